// Erosion by drops of rain, some rounds: drops of a round see the same terrain.
#include "native.h"

static uint next_random(uint *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

void run(float *restrict map, float *restrict change, int size, int drops, int lifetime, uint seed, float share,
         int rounds) {
    for (int round = 0; round < rounds; round++) {
        for (int id = 0; id < drops; id++) {
            uint random = (id + 1) * 747796405u ^ (seed + round);
            for (int k = 0; k < 4; k++)
                next_random(&random);
            float x = (next_random(&random) >> 8) * (1.0f / 16777216.0f) * (size - 2);
            float y = (next_random(&random) >> 8) * (1.0f / 16777216.0f) * (size - 2);
            float dx = 0, dy = 0, sediment = 0, speed = 1, water = 1, most = size - 1;
            int at = (int)y * size + (int)x;
            float u = x - (int)x, v = y - (int)y;
            float nw = map[at], ne = map[at + 1], sw = map[at + size], se = map[at + size + 1];
            float here = nw * (1 - u) * (1 - v) + ne * u * (1 - v) + sw * (1 - u) * v + se * u * v;
            for (int life = 0; life < lifetime; life++) {
                dx = dx * 0.3f - ((ne - nw) * (1 - v) + (se - sw) * v) * 0.7f;
                dy = dy * 0.3f - ((sw - nw) * (1 - u) + (se - ne) * u) * 0.7f;
                float length = sqrtf(dx * dx + dy * dy);
                if (length < 1e-6f)
                    break;
                dx /= length, dy /= length;
                x += dx, y += dy;
                if (x < 0 || x >= most || y < 0 || y >= most)
                    break;
                float *old = change + at, a = (1 - u) * (1 - v), b = u * (1 - v), c = (1 - u) * v, d = u * v;
                at = (int)y * size + (int)x;
                u = x - (int)x, v = y - (int)y;
                nw = map[at], ne = map[at + 1], sw = map[at + size], se = map[at + size + 1];
                float there = nw * (1 - u) * (1 - v) + ne * u * (1 - v) + sw * (1 - u) * v + se * u * v;
                float fall = there - here, capacity = MAX(-fall, 0.01f) * speed * water * 4, amount;
                here = there;
                if (fall > 0)
                    amount = MIN(fall, sediment);
                else if (sediment > capacity)
                    amount = (sediment - capacity) * 0.3f;
                else
                    amount = -MIN((capacity - sediment) * 0.3f, -fall);
                sediment -= amount;
                old[0] += amount * a, old[1] += amount * b, old[size] += amount * c, old[size + 1] += amount * d;
                if (fall > 0)
                    break;
                float square = speed * speed - fall * 4;
                speed = sqrtf(MAX(square, 0));
                water *= 0.98f;
            }
        }
#pragma omp simd
        for (int i = 0; i < size * size; i++) {
            map[i] += share * change[i];
            change[i] = 0;
        }
    }
}

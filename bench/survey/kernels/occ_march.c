// Rays through a grid of bits: samples in occupied cells, blended as they are found.
#include "native.h"

typedef struct {
    float x, y, z, w;
} float4;

static inline uint expand_bits(uint v) {
    v = (v * 0x00010001u) & 0xFF0000FFu;
    v = (v * 0x00000101u) & 0x0F00F00Fu;
    v = (v * 0x00000011u) & 0xC30C30C3u;
    return (v * 0x00000005u) & 0x49249249u;
}

static inline int cell_of(float x, float half, int size) {
    int c = (int)((x + 1) * half);
    return c < 0 ? 0 : c >= size ? size - 1 : c;
}

static inline float inside(float x) { return x < -1 ? -1 : x > 1 ? 1 : x; }

void run(const float *restrict origins, const float *restrict directions, const uchar *restrict bits,
         const float4 *restrict field, int *restrict counts, float4 *restrict image, float *restrict depth, int n,
         int size, float step, int max_steps, float threshold) {
    uint spread[1024];
    for (int i = 0; i < size; i++)
        spread[i] = expand_bits(i);
    float half = 0.5f * size, width = 2.0f / size;
    for (int i = 0; i < n; i++) {
        const float *o = origins + 3 * i, *d = directions + 3 * i;
        float inverse[3], ahead[3], near = 0.05f, far = INFINITY;
        for (int a = 0; a < 3; a++) {
            inverse[a] = 1 / d[a];
            ahead[a] = 0.5f + 0.5f * copysignf(1, d[a]);
            float t0 = (-1 - o[a]) * inverse[a], t1 = (1 - o[a]) * inverse[a];
            near = MAX(near, MIN(t0, t1));
            far = MIN(far, MAX(t0, t1));
        }
        float t = near, through = 1, r = 0, g = 0, b = 0, all = 0, way = 0;
        int steps = 0, open = 1;
        while (t < far && steps < max_steps) {
            float x = inside(o[0] + t * d[0]), y = inside(o[1] + t * d[1]), z = inside(o[2] + t * d[2]);
            int cx = cell_of(x, half, size), cy = cell_of(y, half, size), cz = cell_of(z, half, size);
            uint index = spread[cx] | spread[cy] << 1 | spread[cz] << 2;
            if (bits[index >> 3] >> (index & 7) & 1) {
                if (open) {
                    float4 c = field[index];
                    float alpha = 1 - expf(-c.w * step), weight = alpha * through;
                    r += weight * c.x;
                    g += weight * c.y;
                    b += weight * c.z;
                    way += weight * t;
                    all += weight;
                    through *= 1 - alpha;
                    open = through >= threshold;
                }
                t += step;
                steps++;
            } else {
                float tx = ((cx + ahead[0]) * width - 1 - x) * inverse[0];
                float ty = ((cy + ahead[1]) * width - 1 - y) * inverse[1];
                float tz = ((cz + ahead[2]) * width - 1 - z) * inverse[2];
                float least = MIN(tx, MIN(ty, tz)), until = t + MAX(0, least);
                do
                    t += step;
                while (t < until);
            }
        }
        counts[i] = steps;
        image[i] = (float4){r + through, g + through, b + through, all};
        depth[i] = way;
    }
}

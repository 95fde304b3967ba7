// An epidemic on a torus: 0 can fall ill, n > 0 is ill for n more days, -1 is immune. Each cell has its own
// linear congruential generator; who is in which state is counted each day.
extern "C" __global__ void sir_grid(signed char *now, signed char *next, unsigned int *seeds, int *counts, int day,
                                    int w, int h, double beta, int days_ill) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int i = y * w + x;
    int ill = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0)
                continue;
            int nx = (x + dx + w) % w;
            int ny = (y + dy + h) % h;
            if (now[ny * w + nx] > 0)
                ill++;
        }
    seeds[i] = seeds[i] * 1664525u + 1013904223u;
    double chance = (seeds[i] >> 8) / 16777216.0;
    signed char state = now[i];
    if (state == 0) {
        if (ill > 0 && chance < 1 - pow(1 - beta, ill))
            state = days_ill;
    } else if (state > 0) {
        state--;
        if (state == 0)
            state = -1;
    }
    next[i] = state;
    if (state == 0)
        atomicAdd(&counts[day * 3], 1);
    else if (state > 0)
        atomicAdd(&counts[day * 3 + 1], 1);
    else
        atomicAdd(&counts[day * 3 + 2], 1);
}

#include "native.h"

static inline uint xorshift(uint *s) {
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

static inline int below(uint *s, uint n) {
    return (ull)xorshift(s) * n >> 32;
}

// Chains one after another; the sum over facilities in vectors, as terms of the two that change places are taken off.
void run(const int *restrict flow, const int *restrict distance, uchar *restrict best_perm, int *restrict best_cost,
         ull *restrict winner, int n, int chains, int steps, float first_temperature, float cooling, uint seed) {
    for (int chain = 0; chain < chains; chain++) {
        uint state = seed ^ (chain + 1) * 0x9e3779b9u;
        float temperature = first_temperature;
        int p[32], best[32], cost = 0;
        for (int i = 0; i < n; i++)
            p[i] = i;
        for (int i = n - 1; i > 0; i--) {
            int j = below(&state, i + 1), t = p[i];
            p[i] = p[j], p[j] = t;
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                cost += flow[i * n + j] * distance[p[i] * n + p[j]];
        int least = cost;
        memcpy(best, p, sizeof p);
        for (int step = 0; step < steps; step++, temperature *= cooling) {
            int r = below(&state, n), s = below(&state, n - 1), delta = 0;
            s += s >= r;
            const int *fr = flow + r * n, *fs = flow + s * n;
            const int *dr = distance + p[r] * n, *ds = distance + p[s] * n;
#pragma omp simd reduction(+ : delta)
            for (int k = 0; k < n; k++)
                delta += (fr[k] - fs[k]) * (ds[p[k]] - dr[p[k]]);
            delta -= (fr[r] - fs[r]) * (ds[p[r]] - dr[p[r]]) + (fr[s] - fs[s]) * (ds[p[s]] - dr[p[s]]);
            delta *= 2;
            if (delta > 0 && xorshift(&state) * 2.3283064e-10f >= expf(-delta / temperature))
                continue;
            int t = p[r];
            p[r] = p[s], p[s] = t;
            cost += delta;
            if (cost < least) {
                least = cost;
                memcpy(best, p, sizeof p);
            }
        }
        best_cost[chain] = least;
        for (int i = 0; i < n; i++)
            best_perm[(long)chain * n + i] = best[i];
        *winner = MIN(*winner, (ull)least << 16 | chain);
    }
}

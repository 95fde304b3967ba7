#include "native.h"

static inline uint lcg(uint *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

void run(char *genes, char *other_genes, const int *restrict value, const int *restrict weight,
         int *restrict fitness, int *restrict history, int capacity, int population, int items, int mutation,
         uint seed, int generations) {
    uint *restrict rng = malloc(population * sizeof *rng);
    char *now = genes, *next = other_genes;
    for (int id = 0; id < population; id++) {
        rng[id] = seed ^ (id * 2654435761u);
        for (int i = 0; i < items; i++)
            now[id * items + i] = lcg(rng + id) % 4 == 0;
    }
    for (int generation = 0; generation < generations; generation++) {
        int elite = 0;
        for (int id = 0; id < population; id++) {
            const char *restrict mine = now + id * items;
            int v = 0, w = 0;
#pragma omp simd reduction(+ : v, w)
            for (int i = 0; i < items; i++)
                v += mine[i] ? value[i] : 0, w += mine[i] ? weight[i] : 0;
            fitness[id] = w > capacity ? MAX(0, v - 10 * (w - capacity)) : v;
            elite = fitness[id] > fitness[elite] ? id : elite;
        }
        history[generation] = fitness[elite];
        memcpy(next, now + elite * items, items);
        for (int id = 1; id < population; id++) {
            uint state = rng[id];
            int parent[2];
            for (int p = 0; p < 2; p++) {
                parent[p] = lcg(&state) % population;
                for (int round = 1; round < 3; round++) {
                    int other = lcg(&state) % population;
                    parent[p] = fitness[other] > fitness[parent[p]] ? other : parent[p];
                }
            }
            int a = lcg(&state) % items, b = lcg(&state) % items, from = MIN(a, b), to = MAX(a, b);
            char *restrict child = next + id * items;
            memcpy(child, now + parent[0] * items, items);
            memcpy(child + from, now + parent[1] * items + from, to - from);
            for (int i = 0; i < items; i++)
                child[i] ^= lcg(&state) % 1000 < (uint)mutation;
            rng[id] = state;
        }
        char *swap = now;
        now = next, next = swap;
    }
    free(rng);
}

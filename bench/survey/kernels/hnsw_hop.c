#include "native.h"

enum { SLOTS = 2048, DIM = 32, DEGREE = 16, KEEP = 32 };

static inline int visit(uint *table, uint id) {
    uint slot = (id * 2654435761u) >> 21;
    while (table[slot] != ~0u) {
        if (table[slot] == id)
            return 0;
        slot = (slot + 1) & (SLOTS - 1);
    }
    table[slot] = id;
    return 1;
}

static inline int distance(const uchar *restrict a, const uchar *restrict b) {
    int sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < DIM; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static inline void insert(ull *list, ull key) {
    if (key >= list[KEEP - 1])
        return;
    int at = KEEP - 1;
    for (; at > 0 && list[at - 1] > key; at--)
        list[at] = list[at - 1];
    list[at] = key;
}

void run(const uchar *restrict vectors, const int *restrict neighbors, const uchar *restrict queries,
         int *restrict found, int *restrict hops, int n, int count, int nearest, int max_hops) {
    uint visited[SLOTS];
    for (int q = 0; q < count; q++) {
        ull list[KEEP];
        const uchar *x = queries + q * DIM;
        memset(visited, 0xff, sizeof visited);
        memset(list, 0xff, sizeof list);
        for (int k = 0; k < 32; k++) {
            uint id = k * (long long)n / 32;
            visit(visited, id);
            insert(list, (ull)distance(vectors + id * DIM, x) << 32 | id << 1);
        }
        int hop = 0;
        for (; hop < max_hops; hop++) {
            int at = 0;
            while (at < KEEP && (list[at] & 1))
                at++;
            if (at == KEEP)
                break;
            uint node = (uint)list[at] >> 1;
            list[at] |= 1;
            for (int k = 0; k < DEGREE; k++) {
                int other = neighbors[node * DEGREE + k];
                if (other >= 0 && visit(visited, other))
                    insert(list, (ull)distance(vectors + other * DIM, x) << 32 | (uint)other << 1);
            }
        }
        for (int k = 0; k < nearest; k++)
            found[q * nearest + k] = (uint)list[k] >> 1;
        hops[q] = hop;
    }
}

#include "native.h"

void run(int *restrict a, int *restrict b, int items, int capacity) {
    for (int i = 0; i < items; i++) {
        const int *before = i % 2 ? b : a;
        int *after = i % 2 ? a : b, weight = 7 + i * 13 % 101, value = 5 + i * 29 % 83;
        memcpy(after, before, MIN(weight, capacity + 1) * sizeof(int));
#pragma omp simd
        for (int j = weight; j <= capacity; j++)
            after[j] = MAX(before[j], before[j - weight] + value);
    }
}

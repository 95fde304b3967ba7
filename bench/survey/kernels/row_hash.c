#include "native.h"
#define SLOTS 256

void run(const int *restrict a_begin, const int *restrict a_columns, const float *restrict a, const int *restrict b_begin,
         const int *restrict b_columns, const float *restrict b, int *restrict counts, float *restrict sums, int n) {
    for (int row = 0; row < n; row++) {
        int key[SLOTS];
        float value[SLOTS] = {0};
        memset(key, -1, sizeof key);
        for (int k = a_begin[row]; k < a_begin[row + 1]; k++)
            for (int j = b_begin[a_columns[k]]; j < b_begin[a_columns[k] + 1]; j++) {
                int column = b_columns[j], slot = column * 107 & SLOTS - 1;
                while (key[slot] != -1 && key[slot] != column)
                    slot = slot + 1 & SLOTS - 1;
                key[slot] = column;
                value[slot] += a[k] * b[j];
            }
        counts[row] = 0;
        sums[row] = 0;
        for (int i = 0; i < SLOTS; i++)
            if (key[i] >= 0) {
                counts[row]++;
                sums[row] += value[i] * (1 + key[i] % 7);
            }
    }
}

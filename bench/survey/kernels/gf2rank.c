// Ranks of matrices of 32 x 32 bits.
#include "native.h"

void run(const uchar *restrict stream, uchar *restrict ranks, uint *restrict histogram, int matrices) {
    for (int m = 0; m < matrices; m++) {
        uint rows[32];
        memcpy(rows, stream + 128l * m + 1, sizeof rows);
        int rank = 0;
        for (uint bit = 1u << 31; bit; bit >>= 1) {
            int p = rank;
            while (p < 32 && !(rows[p] & bit))
                p++;
            if (p == 32)
                continue;
            uint pivot = rows[p];
            rows[p] = rows[rank];
            rows[rank++] = pivot;
#pragma omp simd
            for (int i = 0; i < 32; i++)
                rows[i] ^= i >= rank && rows[i] & bit ? pivot : 0;
        }
        ranks[m] = rank;
        histogram[rank]++;
    }
}

#include "native.h"

void run(const int *restrict start, const int *restrict column, const float *restrict value,
         const float *restrict b, float *restrict c, int rows) {
    for (int row = 0; row < rows; row++) {
        float sum[64] = {0};
        for (int j = start[row]; j < start[row + 1]; j++)
            for (int k = 0; k < 64; k++)
                sum[k] += value[j] * b[column[j] * 64 + k];
        for (int k = 0; k < 64; k++)
            c[row * 64 + k] = sum[k];
    }
}

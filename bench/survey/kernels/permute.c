#include "native.h"

void run(const float *restrict a, float *restrict b, int n, int c, int hw) {
    for (int m = 0; m < n; m++)
        for (int p = 0; p < hw; p++)
            for (int k = 0; k < c; k++)
                b[(m * hw + p) * c + k] = a[(m * c + k) * hw + p];
}

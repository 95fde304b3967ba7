#include "native.h"

void run(const float *restrict x, int *restrict o, int rows, int n) {
    for (int r = 0; r < rows; r++) {
        const float *p = x + (long)r * n;
        float m = -1e30f;
#pragma omp simd reduction(max : m)
        for (int i = 0; i < n; i++)
            m = p[i] > m ? p[i] : m;
        int i = 0;
        while (p[i] != m)
            i++;
        o[r] = i;
    }
}

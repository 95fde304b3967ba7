#include "native.h"

void run(const double *restrict in, double *restrict out, uint n, int parts) {
    for (int b = 0; b < parts; b++) {
        double s = 0;
        for (long i = b * 512L; i < n; i += 512L * parts) {
            long end = MIN(i + 512, n);
#pragma omp simd reduction(+ : s)
            for (long j = i; j < end; j++)
                s += in[j];
        }
        out[b] = s;
    }
}

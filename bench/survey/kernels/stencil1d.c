#include "native.h"

void run(const int *restrict in, int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        if (i == 3 && n > 6)
            i = n - 3;
        int s = 0;
        for (int o = -3; o <= 3; o++)
            s += i + o >= 0 && i + o < n ? in[i + o] : 0;
        out[i] = s;
    }
#pragma omp simd
    for (int i = 3; i < n - 3; i++)
        out[i] = in[i - 3] + in[i - 2] + in[i - 1] + in[i] + in[i + 1] + in[i + 2] + in[i + 3];
}

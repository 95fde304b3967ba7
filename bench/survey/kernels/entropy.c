#include "native.h"

void run(const float *restrict z, const int *restrict labels, float *restrict o, int n, int classes) {
    for (int i = 0; i < n; i++) {
        const float *p = z + i * classes;
        float m = p[0], s = 0;
        for (int c = 1; c < classes; c++)
            m = p[c] > m ? p[c] : m;
        for (int c = 0; c < classes; c++)
            s += expf(p[c] - m);
        o[i] = logf(s) + m - p[labels[i]];
    }
}

// Otsu's threshold of a colour picture. The grey is rounded down: as CUDA has it, with two fused steps.
#include "native.h"

void run(const uchar *restrict picture, uchar *restrict grey, int *restrict histogram, double *restrict variance,
         int *restrict threshold, uchar *restrict out, int width, int height) {
    int n = width * height, parts[4][256] = {0};
#pragma omp simd
    for (int i = 0; i < n; i++)
        grey[i] = (int)fma(0.114, picture[3 * i + 2], fma(0.299, picture[3 * i], 0.587 * picture[3 * i + 1]));
    int i = 0;
    for (; i + 4 <= n; i += 4)
        parts[0][grey[i]]++, parts[1][grey[i + 1]]++, parts[2][grey[i + 2]]++, parts[3][grey[i + 3]]++;
    for (; i < n; i++)
        parts[0][grey[i]]++;
    for (int k = 0; k < 256; k++)
        histogram[k] += parts[0][k] + parts[1][k] + parts[2][k] + parts[3][k];
    double most = -1;
    for (int t = 0; t < 256; t++) {
        int c0 = 0, c1 = 0;
        long m0 = 0, m1 = 0;
        for (int k = 0; k <= t; k++)
            c0 += histogram[k], m0 += k * (long)histogram[k];
        for (int k = t + 1; k < 256; k++)
            c1 += histogram[k], m1 += k * (long)histogram[k];
        double w0 = c0, w1 = c1, d = m0 / w0 - m1 / w1;
        variance[t] = c0 == 0 || c1 == 0 ? 0 : w0 / n * (w1 / n) * (d * d);
        if (variance[t] > most)
            most = variance[t], *threshold = t;
    }
    int limit = *threshold;
#pragma omp simd
    for (int k = 0; k < n; k++)
        out[k] = grey[k] > limit ? 255 : 0;
}

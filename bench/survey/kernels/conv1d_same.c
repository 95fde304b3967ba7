#include "native.h"

void run(const float *restrict in, const float *restrict mask, float *restrict out, int n, int width) {
    int half = width / 2;
    for (int i = 0; i < n; i++) {
        float sum = 0;
        if (i >= half && i + width - half <= n)
            continue;
        for (int j = MAX(0, half - i); j < width && i - half + j < n; j++)
            sum += in[i - half + j] * mask[j];
        out[i] = sum;
    }
    for (int first = half; first + width - half <= n; first += 256) {
        int end = MIN(256, n - width + half + 1 - first);
        float sums[256] = {0};
        for (int j = 0; j < width; j++) {
            const float *p = in + first - half + j;
#pragma omp simd
            for (int i = 0; i < end; i++)
                sums[i] += p[i] * mask[j];
        }
        memcpy(out + first, sums, end * sizeof(float));
    }
}

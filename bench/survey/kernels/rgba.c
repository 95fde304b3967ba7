#include "native.h"

static inline uchar byte(float v) { return (uchar)(int)rintf(MIN(MAX(v, 0.0f), 255.0f)); }

void run(const uchar *restrict in, uchar *restrict out, float contrast, float saturation, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const uchar *p = in + 4 * i;
        float r = (p[0] - 128.0f) * contrast + 128.0f, g = (p[1] - 128.0f) * contrast + 128.0f;
        float b = (p[2] - 128.0f) * contrast + 128.0f, grey = 0.299f * r + 0.587f * g + 0.114f * b;
        out[4 * i] = byte(grey + saturation * (r - grey));
        out[4 * i + 1] = byte(grey + saturation * (g - grey));
        out[4 * i + 2] = byte(grey + saturation * (b - grey));
        out[4 * i + 3] = p[3];
    }
}

#include "native.h"

void run(const uchar *restrict in, float *restrict out, const float *restrict mean, const float *restrict scale,
         int n) {
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            out[c * n + i] = (in[3 * i + c] / 255.0f - mean[c]) * scale[c];
}

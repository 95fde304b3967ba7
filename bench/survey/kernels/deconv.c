#include "native.h"
enum { MOST = 1024 };

// Every `stride`th element of an output row has the same weights: such elements are a row of their own here.
void run(const float *restrict input, const float *restrict weight, const float *restrict bias,
         float *restrict output, int batch, int ics, int ocs, int in_h, int in_w, int kernel, int stride,
         int padding, int out_h, int out_w) {
    for (int n = 0; n < batch; n++)
        for (int oc = 0; oc < ocs; oc++)
            for (int oy = 0; oy < out_h; oy++) {
                float *to = output + (((long)n * ocs + oc) * out_h + oy) * out_w;
                for (int phase = 0; phase < stride; phase++) {
                    float sums[MOST];
                    int count = (out_w - phase + stride - 1) / stride;
                    for (int j = 0; j < count; j++)
                        sums[j] = bias[oc];
                    for (int ic = 0; ic < ics; ic++)
                        for (int ky = (oy + padding) % stride; ky < kernel && ky <= oy + padding; ky += stride) {
                            int y = (oy + padding - ky) / stride;
                            if (y >= in_h)
                                continue;
                            const float *row = input + (((long)n * ics + ic) * in_h + y) * in_w;
                            const float *w = weight + (((long)ic * ocs + oc) * kernel + ky) * kernel;
                            for (int kx = (phase + padding) % stride; kx < kernel; kx += stride) {
                                int shift = (phase + padding - kx) / stride;
                                int first = MAX(0, -shift), last = MIN(count, in_w - shift);
#pragma omp simd
                                for (int j = first; j < last; j++)
                                    sums[j] += row[j + shift] * w[kx];
                            }
                        }
                    for (int j = 0; j < count; j++)
                        to[phase + j * stride] = sums[j];
                }
            }
}

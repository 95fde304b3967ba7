#include "native.h"

void run(const float *restrict x, const float *restrict weight, const float *restrict bias, float *restrict y, int n,
         int ci, int h, int w, int co, int k, int pad) {
    for (int b = 0; b < n; b++)
        for (int oc = 0; oc < co; oc++)
            for (int oh = 0; oh < h; oh++) {
                float *o = y + ((b * co + oc) * h + oh) * w;
                for (int i = 0; i < w; i++)
                    o[i] = bias[oc];
                for (int c = 0; c < ci; c++)
                    for (int kh = MAX(0, pad - oh); kh < k && oh - pad + kh < h; kh++)
                        for (int kw = 0; kw < k; kw++) {
                            float f = weight[((oc * ci + c) * k + kh) * k + kw];
                            const float *p = x + ((b * ci + c) * h + oh - pad + kh) * w + kw - pad;
#pragma omp simd
                            for (int i = MAX(0, pad - kw); i < MIN(w, w + pad - kw); i++)
                                o[i] += f * p[i];
                        }
            }
}

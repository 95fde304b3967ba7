#include "native.h"

static inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

void run(const float *restrict x, const float *restrict w_ih, const float *restrict w_hh,
         const float *restrict b_ih, const float *restrict b_hh, float *restrict hs, int inputs, int hidden,
         int batch, int steps) {
    for (int t = 0; t < steps; t++)
        for (int unit = 0; unit < hidden; unit++) {
            const float *w[3], *u[3];
            for (int gate = 0; gate < 3; gate++) {
                w[gate] = w_ih + ((long)gate * hidden + unit) * inputs;
                u[gate] = w_hh + ((long)gate * hidden + unit) * hidden;
            }
            for (int b = 0; b < batch; b++) {
                const float *xt = x + ((long)t * batch + b) * inputs, *h = hs + ((long)t * batch + b) * hidden;
                float r = 0, z = 0, n = 0, hn = 0;
#pragma omp simd reduction(+ : r, z, n)
                for (int i = 0; i < inputs; i++) {
                    r += w[0][i] * xt[i];
                    z += w[1][i] * xt[i];
                    n += w[2][i] * xt[i];
                }
#pragma omp simd reduction(+ : r, z, hn)
                for (int i = 0; i < hidden; i++) {
                    r += u[0][i] * h[i];
                    z += u[1][i] * h[i];
                    hn += u[2][i] * h[i];
                }
                r = sigmoid(r + b_ih[unit] + b_hh[unit]);
                z = sigmoid(z + b_ih[hidden + unit] + b_hh[hidden + unit]);
                n = tanhf(n + b_ih[2 * hidden + unit] + r * (hn + b_hh[2 * hidden + unit]));
                hs[((long)(t + 1) * batch + b) * hidden + unit] = (1 - z) * n + z * h[unit];
            }
        }
}

#include "native.h"
enum { STATES = 16, W = 64 };  // channels side by side

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern float logf(float);
#endif

void run(const float *restrict u, const float *restrict delta, const float *restrict a_log,
         const float *restrict b, const float *restrict c, const float *restrict skip, const float *restrict z,
         const float *restrict bias, float *restrict out, int length, int channels, int batches) {
    for (int batch = 0; batch < batches; batch++)
        for (int first = 0; first < channels; first += W) {
            float a[STATES][W], h[STATES][W] = {0}, dt[W], x[W], y[W];
            int m = MIN(W, channels - first);
            for (int n = 0; n < STATES; n++)
#pragma omp simd
                for (int i = 0; i < m; i++)
                    a[n][i] = -expf(a_log[(first + i) * STATES + n]);
            for (int t = 0; t < length; t++) {
                long row = (long)batch * length + t, at = row * channels + first;
#pragma omp simd
                for (int i = 0; i < m; i++) {
                    float v = delta[at + i] + bias[first + i], s = logf(1 + expf(v));
                    dt[i] = v > 20 ? v : s;
                    x[i] = u[at + i];
                    y[i] = 0;
                }
                for (int n = 0; n < STATES; n++) {
                    float bn = b[row * STATES + n], cn = c[row * STATES + n];
#pragma omp simd
                    for (int i = 0; i < m; i++) {
                        h[n][i] = h[n][i] * expf(dt[i] * a[n][i]) + dt[i] * bn * x[i];
                        y[i] += h[n][i] * cn;
                    }
                }
#pragma omp simd
                for (int i = 0; i < m; i++) {
                    float gate = z[at + i];
                    out[at + i] = (y[i] + skip[first + i] * x[i]) * gate / (1 + expf(-gate));
                }
            }
        }
}

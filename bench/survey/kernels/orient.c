#include "native.h"

void run(const float *restrict w, const float *restrict x, const float *restrict y, const float *restrict z,
         float *restrict px, float *restrict py, float *restrict pz, int n) {
    for (int i = 0; i < n; i++) {
        float a = y[i] * pz[i] - z[i] * py[i], b = z[i] * px[i] - x[i] * pz[i], c = x[i] * py[i] - y[i] * px[i];
        float d = y[i] * c - z[i] * b, e = z[i] * a - x[i] * c, f = x[i] * b - y[i] * a;
        px[i] += 2 * (w[i] * a + d);
        py[i] += 2 * (w[i] * b + e);
        pz[i] += 2 * (w[i] * c + f);
    }
}

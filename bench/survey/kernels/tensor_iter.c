// out = self + value * t1 * t2, with self transposed in its two last dimensions, t1 one along the third and t2 a
// column; then a choice of out by a mask as long as the last dimension but one, into doubles of another order.
#include "native.h"

void run(const float *restrict self, const float *restrict t1, const float *restrict t2, const uchar *restrict mask,
         float *restrict out, double *restrict chosen, int d3, int d2, int d1, int d0, float value, double other) {
    for (int i3 = 0; i3 < d3; i3++)
        for (int i2 = 0; i2 < d2; i2++)
            for (int b1 = 0; b1 < d1; b1 += 16)
                for (int b0 = 0; b0 < d0; b0 += 64)
                    for (int i1 = b1; i1 < MIN(d1, b1 + 16); i1++) {
                        const float *s = self + (size_t)(i3 * d2 + i2) * d0 * d1 + i1;
                        const float *t = t1 + (size_t)(i3 * d1 + i1) * d0;
                        float *o = out + ((size_t)(i3 * d2 + i2) * d1 + i1) * d0, u = value * t2[i2 * d1 + i1];
                        for (int i0 = b0; i0 < MIN(d0, b0 + 64); i0++)
                            o[i0] = s[(size_t)i0 * d1] + u * t[i0];
                    }
    // `chosen` is [i3][i1][i2][i0].
    for (int i3 = 0; i3 < d3; i3++)
        for (int i1 = 0; i1 < d1; i1++)
            for (int i2 = 0; i2 < d2; i2++) {
                const float *o = out + ((size_t)(i3 * d2 + i2) * d1 + i1) * d0;
                double *c = chosen + ((size_t)(i3 * d1 + i1) * d2 + i2) * d0;
                int m = mask[i2 * d1 + i1];
                for (int i0 = 0; i0 < d0; i0++)
                    c[i0] = m ? o[i0] : other;
            }
}

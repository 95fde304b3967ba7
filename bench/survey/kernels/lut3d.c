#include "native.h"

void run(const uchar *restrict in, const float *restrict table, uchar *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        const uchar *p = in + 4 * i;
        float f[3], sum[3] = {0, 0, 0};
        int at[3];
        for (int k = 0; k < 3; k++) {
            float c = p[k] * (16.0f / 255);
            at[k] = MIN((int)c, 15);
            f[k] = c - at[k];
        }
        for (int corner = 0; corner < 8; corner++) {
            int r = at[0] + (corner & 1), g = at[1] + (corner >> 1 & 1), b = at[2] + (corner >> 2);
            float w = (corner & 1 ? f[0] : 1 - f[0]) * (corner & 2 ? f[1] : 1 - f[1]) *
                      (corner & 4 ? f[2] : 1 - f[2]);
            const float *t = table + 3 * ((b * 17 + g) * 17 + r);
            for (int k = 0; k < 3; k++)
                sum[k] += w * t[k];
        }
        for (int k = 0; k < 3; k++)
            out[4 * i + k] = (uchar)(sum[k] * 255 + 0.5f);
        out[4 * i + 3] = p[3];
    }
}

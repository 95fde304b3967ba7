#include "native.h"

static const float kw[9] = {0.05f, 0.09f, 0.12f, 0.15f, 0.18f, 0.15f, 0.12f, 0.09f, 0.05f};

void run(const float *restrict in, float *restrict tmp, float *restrict out, int w, int h) {
    for (int y = 0; y < h; y++) {
        const float *p = in + y * w;
        float *o = tmp + y * w;
        for (int x = 0; x < 4; x++) {
            float s = 0;
            for (int k = 0; k < 9; k++)
                if (x + k - 4 >= 0)
                    s += kw[k] * p[x + k - 4];
            o[x] = s;
        }
        for (int x = 4; x < w - 4; x++) {
            float s = 0;
            for (int k = 0; k < 9; k++)
                s += kw[k] * p[x + k - 4];
            o[x] = s;
        }
        for (int x = w - 4; x < w; x++) {
            float s = 0;
            for (int k = 0; k < 9; k++)
                if (x + k - 4 < w)
                    s += kw[k] * p[x + k - 4];
            o[x] = s;
        }
    }
    for (int y = 0; y < h; y++) {
        float *o = out + y * w;
        if (y >= 4 && y < h - 4) {
            for (int x = 0; x < w; x++) {
                float s = 0;
                for (int k = 0; k < 9; k++)
                    s += kw[k] * tmp[(y + k - 4) * w + x];
                o[x] = s;
            }
        } else {
            memset(o, 0, 4 * w);
            for (int k = 0; k < 9; k++) {
                int q = y + k - 4;
                if (q >= 0 && q < h)
                    for (int x = 0; x < w; x++)
                        o[x] += kw[k] * tmp[q * w + x];
            }
        }
    }
}

#include "native.h"

void run(const float *restrict x, float *restrict y, int *restrict where, int planes, int h, int w, int oh, int ow) {
    for (int p = 0; p < planes; p++)
        for (int oy = 0; oy < oh; oy++) {
            float *o = y + (p * oh + oy) * ow;
            int *at = where + (p * oh + oy) * ow;
            for (int ox = 0; ox < ow; ox++)
                o[ox] = -3.402823466e38f, at[ox] = -1;
            for (int i = 0; i < 3; i++) {
                int iy = oy * 2 - 1 + i;
                if (iy < 0 || iy >= h)
                    continue;
                for (int j = 0; j < 3; j++) {
                    const float *r = x + (p * h + iy) * w;
                    int end = MIN(ow, (w - j) / 2 + 1);
#pragma omp simd
                    for (int ox = j == 0; ox < end; ox++) {
                        int ix = ox * 2 - 1 + j;
                        float v = r[ix];
                        int more = v > o[ox];
                        at[ox] = more ? iy * w + ix : at[ox];
                        o[ox] = more ? v : o[ox];
                    }
                }
            }
        }
}

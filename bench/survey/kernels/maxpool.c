#include "native.h"

void run(const float *restrict in, float *restrict out, int ch, int oh, int ow) {
    for (int c = 0; c < ch; c++)
        for (int y = 0; y < oh; y++) {
            const float *p = in + ((long)c * oh * 2 + 2 * y) * 2 * ow, *q = p + 2 * ow;
            float *o = out + ((long)c * oh + y) * ow;
            for (int x = 0; x < ow; x++) {
                float a = MAX(p[2 * x], p[2 * x + 1]), b = MAX(q[2 * x], q[2 * x + 1]);
                o[x] = MAX(a, b);
            }
        }
}

#include "native.h"

void run(const uchar *restrict in, uchar *restrict out, int w, int h) {
    for (int i = 0; i < w * h; i++) {
        int r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2], v = MAX(r, MAX(g, b)), low = MIN(r, MIN(g, b)), d = v - low;
        float s = v == 0 ? 0 : 255.0f * d / v, a;
        if (d == 0)
            a = 0;
        else if (v == r)
            a = 60.0f * (g - b) / d;
        else if (v == g)
            a = 120.0f + 60.0f * (b - r) / d;
        else
            a = 240.0f + 60.0f * (r - g) / d;
        if (a < 0)
            a += 360;
        out[3 * i] = (uchar)(a / 2), out[3 * i + 1] = (uchar)s, out[3 * i + 2] = (uchar)v;
    }
}

#include "native.h"

void run(const uchar *restrict rgb, uchar *restrict g, int n) {
    for (int i = 0; i < n; i++) {
        float r = rgb[3 * i], gg = rgb[3 * i + 1], b = rgb[3 * i + 2];
        g[i] = (uchar)(0.299f * r + 0.587f * gg + 0.114f * b);
    }
}

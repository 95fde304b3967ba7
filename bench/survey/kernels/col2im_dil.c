// Unfolding pictures into columns with dilation, stride and padding, and folding other columns back.
#include "native.h"

static inline int up(int a, int b) {
    return a > 0 ? (a + b - 1) / b : 0;
}

void run(const uint16_t *restrict im, const float *restrict cols, uint16_t *restrict unfolded, float *restrict folded,
         int channels, int height, int width, int kh, int kw, int ph, int pw, int sh, int sw, int dh, int dw, int hc,
         int wc) {
    memset(folded, 0, (size_t)channels * height * width * sizeof(float));
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < kh; i++)
            for (int j = 0; j < kw; j++) {
                size_t plane = ((size_t)(c * kh + i) * kw + j) * hc * wc;
                int off = j * dw - pw, first = MIN(wc, up(-off, sw)), last = MAX(first, MIN(wc, up(width - off, sw)));
                for (int y = 0; y < hc; y++) {
                    int h = y * sh - ph + i * dh;
                    uint16_t *to = unfolded + plane + (size_t)y * wc;
                    if (h < 0 || h >= height) {
                        memset(to, 0, wc * sizeof *to);
                        continue;
                    }
                    size_t row = ((size_t)c * height + h) * width;
                    const float *back = cols + plane + (size_t)y * wc;
                    for (int x = 0; x < first; x++)
                        to[x] = 0;
                    for (int x = first; x < last; x++)
                        to[x] = im[row + x * sw + off];
                    for (int x = last; x < wc; x++)
                        to[x] = 0;
#pragma GCC ivdep
                    for (int x = first; x < last; x++)
                        folded[row + x * sw + off] += back[x];
                }
            }
}

// Padding by reflection and its gradient; channels last for what is padded. Pixels out of r x r channels.
#include "native.h"

static inline int mirror(int i, int n) {
    i = abs(i);
    return i < n ? i : 2 * n - 2 - i;
}

void run(const float *restrict x, const float *restrict grad_output, float *restrict padded,
         float *restrict grad_input, float *restrict shuffled, int n, int c, int h, int w, int pad_l, int pad_t, int oh,
         int ow, int r) {
    for (int b = 0; b < n; b++)
        for (int y = 0; y < oh; y++) {
            int sy = mirror(y - pad_t, h);
            for (int k = 0; k < c; k++) {
                long from = (long)b * h * w * c + (long)sy * w * c + k, to = (((long)b * c + k) * oh + y) * ow;
                for (int i = 0; i < ow; i++) {
                    int sx = mirror(i - pad_l, w);
                    padded[to + i] = x[from + (long)sx * c];
                    grad_input[from + (long)sx * c] += grad_output[to + i];
                }
            }
        }
    int cs = c / (r * r);
    for (int b = 0; b < n; b++)
        for (int k = 0; k < cs; k++)
            for (int y = 0; y < oh * r; y++) {
                float *out = shuffled + (((long)b * cs + k) * oh * r + y) * ow * r;
                for (int j = 0; j < r; j++) {
                    const float *in = padded + (((long)b * c + (k * r + y % r) * r + j) * oh + y / r) * ow;
                    for (int i = 0; i < ow; i++)
                        out[i * r + j] = in[i];
                }
            }
}

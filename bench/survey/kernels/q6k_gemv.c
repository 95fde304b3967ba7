// A matrix of 6 bits a weight times a vector of 8 bits: a block becomes bytes first, then 32 products side by side.
#include "native.h"

typedef struct {
    uchar ql[128], qh[64];
    signed char scales[16];
    _Float16 d;
} Block6;
typedef struct {
    _Float16 d, sum;
    signed char q[32];
} Block8;

void run(const Block6 *restrict x, const float *restrict v, Block8 *restrict y, float *restrict out, int cols,
         int rows) {
    for (int b = 0; b < cols / 32; b++) {
        const float *in = v + 32 * b;
        float most = 0, sum = 0;
        for (int i = 0; i < 32; i++) {
            most = MAX(most, fabsf(in[i]));
            sum += in[i];
        }
        float d = most / 127;
        for (int i = 0; i < 32; i++)
            y[b].q[i] = most == 0 ? 0 : roundf(in[i] / d);
        y[b].d = d;
        y[b].sum = sum;
    }
    int blocks = cols / 256;
    for (int r = 0; r < rows; r++) {
        float total[32] = {0};
        for (int b = 0; b < blocks; b++) {
            const Block6 *w = x + (long)r * blocks + b;
            const Block8 *a = y + 8 * b;
            signed char q[256];
            for (int n = 0; n < 2; n++) {
                const uchar *restrict l = w->ql + 64 * n, *restrict h = w->qh + 32 * n;
                signed char *restrict to = q + 128 * n;
#pragma omp simd
                for (int i = 0; i < 32; i++) {
                    to[i] = ((l[i] & 15) | (h[i] & 3) << 4) - 32;
                    to[i + 32] = ((l[i + 32] & 15) | (h[i] >> 2 & 3) << 4) - 32;
                    to[i + 64] = (l[i] >> 4 | (h[i] >> 4 & 3) << 4) - 32;
                    to[i + 96] = (l[i + 32] >> 4 | (h[i] >> 6) << 4) - 32;
                }
            }
            for (int k = 0; k < 8; k++) {
                float d = (float)w->d * (float)a[k].d;
                const signed char *restrict lw = q + 32 * k, *restrict la = a[k].q;
                short scale[32];
                for (int i = 0; i < 16; i++) {
                    scale[i] = w->scales[2 * k];
                    scale[i + 16] = w->scales[2 * k + 1];
                }
                int products[32];
#pragma omp simd
                for (int i = 0; i < 32; i++)
                    products[i] = scale[i] * (short)(lw[i] * la[i]);
#pragma omp simd
                for (int i = 0; i < 32; i++)
                    total[i] += d * (float)products[i];
            }
        }
        float sum = 0;
        for (int i = 0; i < 32; i++)
            sum += total[i];
        out[r] = sum;
    }
}

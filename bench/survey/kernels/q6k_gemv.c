// A matrix of 6 bits a weight times a vector of 8 bits: a block becomes bytes first, then 16 products a scale.
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
        float total = 0;
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
            float part = 0;
            for (int k = 0; k < 8; k++) {
                int low = 0, high = 0;
#pragma omp simd reduction(+ : low)
                for (int i = 0; i < 16; i++)
                    low += (short)(q[32 * k + i] * a[k].q[i]);
#pragma omp simd reduction(+ : high)
                for (int i = 16; i < 32; i++)
                    high += (short)(q[32 * k + i] * a[k].q[i]);
                part += (float)a[k].d * (low * w->scales[2 * k] + high * w->scales[2 * k + 1]);
            }
            total += (float)w->d * part;
        }
        out[r] = total;
    }
}

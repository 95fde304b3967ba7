#include "native.h"

#define PIXELS 8

typedef float vec __attribute__((vector_size(64)));
typedef int ivec __attribute__((vector_size(64)));
typedef float vec_unaligned __attribute__((vector_size(64), aligned(4), may_alias));

// Eight pixels of a row and 16 filters at a time, in registers; `filters` is a multiple of 16. The images are copied
// with a border of zeros (and room for the last pixels).
void run(const float *restrict in, const float *restrict weight, const float *restrict bias, float *restrict out, int h,
         int w, int channels, int filters, int images) {
    long line = (long)(w + 2 + PIXELS) * channels;
    float *padded = calloc((h + 2) * line, sizeof *padded);
    for (int n = 0; n < images; n++) {
        for (int y = 0; y < h; y++)
            memcpy(padded + (y + 1) * line + channels, in + (long)(n * h + y) * w * channels,
                   (long)w * channels * sizeof *in);
        for (int k = 0; k < filters; k += 16)
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x += PIXELS) {
                    vec acc[PIXELS];
                    for (int p = 0; p < PIXELS; p++)
                        acc[p] = *(const vec_unaligned *)(bias + k);
                    for (int r = 0; r < 3; r++) {
                        // three taps of a row side by side are 3 * channels numbers in a row
                        const float *from = padded + (y + r) * line + (long)x * channels;
                        const float *k_row = weight + (long)r * 3 * channels * filters + k;
                        for (int c = 0; c < 3 * channels; c++) {
                            vec v = *(const vec_unaligned *)(k_row + (long)c * filters);
#pragma GCC unroll 8
                            for (int p = 0; p < PIXELS; p++)
                                acc[p] += v * from[p * channels + c];
                        }
                    }
                    float *to = out + ((long)(n * h + y) * w + x) * filters + k;
                    for (int p = 0; p < MIN(PIXELS, w - x); p++)
                        *(vec_unaligned *)(to + (long)p * filters) = (vec)((ivec)acc[p] & (acc[p] > 0));
                }
    }
    free(padded);
}

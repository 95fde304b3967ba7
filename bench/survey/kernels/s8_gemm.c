#include "native.h"

// Bytes are widened to 16 bits once, of which products are summed by twos in one instruction.
void run(const int8_t *restrict a, const int8_t *restrict b, const float *restrict channel_scale,
         _Float16 *restrict c, int m, int n, int k, float a_scale) {
    int16_t *wide_a = malloc((long)k * 2), *wide_b = malloc((long)n * k * 2);
    for (long i = 0; i < (long)n * k; i++)
        wide_b[i] = b[i];
    for (int row = 0; row < m; row++) {
        for (int i = 0; i < k; i++)
            wide_a[i] = a[(long)row * k + i];
        int col = 0;
        for (; col + 4 <= n; col += 4) {
            const int16_t *b0 = wide_b + (long)col * k, *b1 = b0 + k, *b2 = b1 + k, *b3 = b2 + k;
            int s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (int i = 0; i < k; i++) {
                s0 += wide_a[i] * b0[i];
                s1 += wide_a[i] * b1[i];
                s2 += wide_a[i] * b2[i];
                s3 += wide_a[i] * b3[i];
            }
            int sums[] = {s0, s1, s2, s3};
            for (int j = 0; j < 4; j++)
                c[(long)row * n + col + j] = (float)sums[j] * (a_scale * channel_scale[col + j]);
        }
        for (; col < n; col++) {
            const int16_t *b0 = wide_b + (long)col * k;
            int s = 0;
            for (int i = 0; i < k; i++)
                s += wide_a[i] * b0[i];
            c[(long)row * n + col] = (float)s * (a_scale * channel_scale[col]);
        }
    }
    free(wide_a);
    free(wide_b);
}

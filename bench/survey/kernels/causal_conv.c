// Causal convolution of width 4 with SiLU of a batch's channels, and a step of one token.
#include "native.h"

void run(const _Float16 *restrict x, const float *restrict weight, const float *restrict bias,
         const _Float16 *restrict token, _Float16 *restrict out, _Float16 *restrict state, _Float16 *restrict next,
         int batch, int dim, int seqlen, int stride) {
    float *restrict v = calloc(seqlen + 3, sizeof(float)), *restrict r = malloc(seqlen * sizeof(float));
    for (int b = 0; b < batch; b++)
        for (int c = 0; c < dim; c++) {
            const _Float16 *in = x + ((long)b * dim + c) * stride;
            const float *w = weight + 4 * c;
            float w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
            for (int i = 0; i < seqlen; i++)
                v[i + 3] = in[i];
            _Float16 *o = out + ((long)b * dim + c) * stride;
#pragma omp simd
            for (int i = 0; i < seqlen; i++) {
                float s = bias[c] + w0 * v[i] + w1 * v[i + 1] + w2 * v[i + 2] + w3 * v[i + 3];
                r[i] = s / (1 + expf(-s));
            }
            for (int i = 0; i < seqlen; i++)
                o[i] = r[i];
            _Float16 *st = state + ((long)b * dim + c) * 3;
            float now = token[b * dim + c];
            float s = bias[c] + w0 * (float)st[0] + w1 * (float)st[1] + w2 * (float)st[2] + w3 * now;
            st[0] = st[1];
            st[1] = st[2];
            st[2] = now;
            next[b * dim + c] = s / (1 + expf(-s));
        }
    free(v);
    free(r);
}

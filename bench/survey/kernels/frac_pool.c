// Fractional max pooling, max-unpooling and the gradient.
#include "native.h"

static inline int interval(float sample, int i, int in, int out, int pool) {
    float alpha = (float)(in - pool) / (float)(out - 1);
    return i == out - 1 ? in - pool : (int)((i + sample) * alpha) - (int)(sample * alpha);
}

void run(const float *restrict input, const float *restrict samples, const float *restrict grad_output,
         float *restrict output, int64_t *restrict indices, float *restrict unpooled, float *restrict grad_input,
         int planes, int ih, int iw, int oh, int ow, int kh, int kw) {
    int *left = malloc(ow * sizeof(int));
    for (int p = 0; p < planes; p++) {
        const float *in = input + (long)p * ih * iw;
        float *back = unpooled + (long)p * ih * iw, *grad = grad_input + (long)p * ih * iw;
        for (int x = 0; x < ow; x++)
            left[x] = interval(samples[2 * p], x, iw, ow, kw);
        for (int y = 0; y < oh; y++) {
            int top = interval(samples[2 * p + 1], y, ih, oh, kh);
            for (int x = 0; x < ow; x++) {
                long at = ((long)p * oh + y) * ow + x;
                float best = -INFINITY;
                int where = top * iw + left[x];
                for (int h = top; h < top + kh; h++)
                    for (int w = left[x]; w < left[x] + kw; w++) {
                        float v = in[h * iw + w];
                        int better = !(v <= best);
                        where = better ? h * iw + w : where;
                        best = better ? v : best;
                    }
                output[at] = best;
                indices[at] = where;
                back[where] = best;
                grad[where] += grad_output[at];
            }
        }
    }
    free(left);
}

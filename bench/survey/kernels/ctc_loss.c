// CTC's forward recursion: the states of an utterance are vectors, of which exponentials and logarithms are taken.
#include "native.h"
enum { MAX_STATES = 128 };

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern float logf(float);
#endif

void run(const float *restrict logits, float *restrict log_probs, const int *restrict targets,
         const int *restrict target_start, const int *restrict frame_count, float *restrict loss, int batch,
         int classes, int rows) {
    for (int row = 0; row < rows; row++) {
        const float *x = logits + (long)row * classes;
        float *y = log_probs + (long)row * classes, best = -INFINITY, sum = 0;
#pragma omp simd reduction(max : best)
        for (int c = 0; c < classes; c++)
            best = MAX(best, x[c]);
#pragma omp simd reduction(+ : sum)
        for (int c = 0; c < classes; c++)
            sum += expf(x[c] - best);
        float norm = best + logf(sum);
#pragma omp simd
        for (int c = 0; c < classes; c++)
            y[c] = x[c] - norm;
    }
    float alpha[2][MAX_STATES + 2], emit[MAX_STATES], skip[MAX_STATES];
    int label[MAX_STATES];
    for (int b = 0; b < batch; b++) {
        const int *target = targets + target_start[b];
        int length = target_start[b + 1] - target_start[b], states = 2 * length + 1, now = 0;
        for (int s = 0; s < states; s++) {
            label[s] = s % 2 ? target[s / 2] : 0;
            skip[s] = s >= 3 && s % 2 && label[s] != label[s - 2] ? 0 : -INFINITY;
        }
        for (int s = 0; s < states + 2; s++)
            alpha[0][s] = alpha[1][s] = -INFINITY;
        const float *from = log_probs + (long)b * classes;
        alpha[0][2] = from[0];
        if (length)
            alpha[0][3] = from[label[1]];
        for (int t = 1; t < frame_count[b]; t++) {
            from = log_probs + ((long)t * batch + b) * classes;
            const float *restrict a = alpha[now];
            float *restrict next = alpha[now ^ 1];
            for (int s = 0; s < states; s++)
                emit[s] = from[label[s]];
#pragma omp simd
            for (int s = 0; s < states; s++) {
                float stay = a[s + 2], step = a[s + 1], jump = a[s] + skip[s];
                float best = MAX(MAX(stay, step), jump), m = best == -INFINITY ? 0 : best;
                next[s + 2] = m + logf(expf(stay - m) + expf(step - m) + expf(jump - m)) + emit[s];
            }
            now ^= 1;
        }
        float end = alpha[now][states + 1], other = length ? alpha[now][states] : -INFINITY, high = MAX(end, other);
        loss[b] = high == -INFINITY ? 0 : -(high + log1pf(expf(MIN(end, other) - high)));
    }
}

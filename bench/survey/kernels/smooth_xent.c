// Cross entropy with smoothed labels: a row becomes floats, then their exponentials, then the gradient.
#include "native.h"
#include <immintrin.h>

void run(_Float16 *restrict logits, const int *restrict targets, float *restrict losses, float *restrict mean,
         int vocabulary, int stride, float smoothing, float grad_scale, int rows) {
    int room = (vocabulary + 15) / 16 * 16;
    float *x = malloc(2L * room * sizeof *x), *e = x + room, total = 0, counted = 0, even = smoothing / vocabulary;
    for (int r = 0; r < rows; r++) {
        _Float16 *row = logits + (long)r * stride;
        int target = targets[r];
        if (target == -100) {
            memset(row, 0, vocabulary * sizeof *row);
            losses[r] = 0;
            continue;
        }
        int i = 0;
        for (; i + 16 <= vocabulary; i += 16)
            _mm512_storeu_ps(x + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(row + i))));
        for (; i < vocabulary; i++)
            x[i] = row[i];
        float most = -INFINITY, sum = 0, exponentials = 0;
#pragma omp simd reduction(max : most) reduction(+ : sum)
        for (int i = 0; i < vocabulary; i++) {
            most = x[i] > most ? x[i] : most;
            sum += x[i];
        }
#pragma omp simd reduction(+ : exponentials)
        for (int i = 0; i < vocabulary; i++) {
            e[i] = expf(x[i] - most);
            exponentials += e[i];
        }
        float loss = most + logf(exponentials) - (1 - smoothing) * x[target] - smoothing * sum / vocabulary;
        losses[r] = loss;
        total += loss;
        counted++;
        float factor = grad_scale / exponentials;
#pragma omp simd
        for (int i = 0; i < vocabulary; i++)
            e[i] = e[i] * factor - even * grad_scale;
        e[target] -= (1 - smoothing) * grad_scale;
        for (i = 0; i + 16 <= vocabulary; i += 16)
            _mm256_storeu_si256((void *)(row + i), _mm512_cvtps_ph(_mm512_loadu_ps(e + i), 0));
        for (; i < vocabulary; i++)
            row[i] = e[i];
    }
    *mean = counted > 0 ? total / counted : 0;
    free(x);
}

// Top-p sampling with the same bisection; sums by vectors, the drawing one after another.
#include "native.h"
enum { ROUNDS = 20 };

void run(const float *restrict logits, float *restrict probs, const float *restrict top_p,
         const float *restrict temperature, const float *restrict uniform, int *restrict tokens, int vocab, int rows) {
    for (int row = 0; row < rows; row++) {
        const float *in = logits + (long)row * vocab;
        float *p = probs + (long)row * vocab, inv_t = 1 / temperature[row], best = -INFINITY, sum = 0;
#pragma omp simd reduction(max : best)
        for (int i = 0; i < vocab; i++)
            best = MAX(best, in[i]);
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < vocab; i++) {
            p[i] = expf((in[i] - best) * inv_t);
            sum += p[i];
        }
        float wanted = top_p[row] * sum, low = 0, high = 1, mass = 0;
        for (int round = 0; round < ROUNDS; round++) {
            float middle = 0.5f * (low + high), above = 0;
#pragma omp simd reduction(+ : above)
            for (int i = 0; i < vocab; i++)
                above += p[i] >= middle ? p[i] : 0;
            if (above >= wanted)
                low = middle;
            else
                high = middle;
        }
#pragma omp simd reduction(+ : mass)
        for (int i = 0; i < vocab; i++) {
            p[i] = p[i] >= low ? p[i] : 0;
            mass += p[i];
        }
        float target = uniform[row] * mass, running = 0, inverse = 1 / mass;
        int token = 0;
        for (; token < vocab; token++) {
            running += p[token];
            if (p[token] > 0 && running > target)
                break;
        }
        tokens[row] = token;
#pragma omp simd
        for (int i = 0; i < vocab; i++)
            p[i] *= inverse;
    }
}

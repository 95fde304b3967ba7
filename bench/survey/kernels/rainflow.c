// Rain flow counts: gauges in groups whose histories are turned first, cycles of one gauge listed, and the list's
// powers in vectors.
#include "native.h"
__attribute__((simd("notinbranch"))) extern float powf(float, float);

enum { STACK = 96, BINS = 24, W = 16 };

void run(const float *restrict history, float *restrict histogram, float *restrict damage, float *restrict most,
         int gauges, int times, float bin_width, float reference, float exponent) {
    float *own = malloc((W + 2L) * times * sizeof(float)), *range = own + (long)W * times, *weight = range + times;
    for (int first = 0; first < gauges; first += W) {
        int lanes = MIN(W, gauges - first);
        for (int t = 0; t < times; t++)
            for (int l = 0; l < lanes; l++)
                own[(long)l * times + t] = history[(long)t * gauges + first + l];
        for (int l = 0; l < lanes; l++) {
            const float *h = own + (long)l * times;
            float stack[STACK], previous = h[0], current = h[0];
            int depth = 0, any = 0, n = 0;
            for (int t = 1; t <= times; t++) {
                float next = t < times ? h[t] : 0;
                if (t < times && next == current)
                    continue;
                int turned = t == times || !any || (current - previous) * (next - current) < 0;
                any = 1;
                if (turned) {
                    stack[depth++] = current;
                    while (depth >= 3) {
                        float x = fabsf(stack[depth - 1] - stack[depth - 2]);
                        float y = fabsf(stack[depth - 2] - stack[depth - 3]);
                        if (x < y)
                            break;
                        range[n] = y;
                        weight[n++] = depth == 3 ? 0.5f : 1;
                        if (depth == 3) {
                            stack[0] = stack[1], stack[1] = stack[2];
                            depth = 2;
                        } else {
                            stack[depth - 3] = stack[depth - 1];
                            depth -= 2;
                        }
                    }
                    if (depth == STACK)
                        break;
                }
                previous = current;
                current = next;
            }
            for (int i = 0; i + 1 < depth; i++) {
                range[n] = fabsf(stack[i + 1] - stack[i]);
                weight[n++] = 0.5f;
            }
            float sum = 0, top = 0, bins[BINS] = {0};
#pragma omp simd reduction(+ : sum) reduction(max : top)
            for (int i = 0; i < n; i++) {
                sum += weight[i] * powf(range[i] / reference, exponent);
                top = range[i] > top ? range[i] : top;
            }
            for (int i = 0; i < n; i++)
                bins[MIN((int)(range[i] / bin_width), BINS - 1)] += weight[i];
            for (int b = 0; b < BINS; b++)
                histogram[(long)b * gauges + first + l] = bins[b];
            damage[first + l] = sum;
            most[first + l] = top;
        }
    }
    free(own);
}

// The earth mover's distance by an auction, in rounds in which all free points bid before places are given away.
#include "native.h"

void run(const float *restrict xyz1, const float *restrict xyz2, int *restrict assignment,
         int *restrict assignment_inv, float *restrict price, float *restrict dist, int *restrict unassigned, int clouds,
         int n, float eps, int rounds) {
    float *x = malloc(3 * n * sizeof(float)), *y = x + n, *z = y + n, *value = malloc(n * sizeof(float));
    ull *highest = calloc(n, sizeof(ull));
    for (int b = 0; b < clouds; b++) {
        const float *a = xyz1 + 3L * b * n, *c = xyz2 + 3L * b * n;
        int *partner = assignment + b * n, *inverse = assignment_inv + b * n;
        float *cost = price + b * n;
        for (int j = 0; j < n; j++) {
            x[j] = c[3 * j];
            y[j] = c[3 * j + 1];
            z[j] = c[3 * j + 2];
        }
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < n; i++) {
                if (partner[i] != -1)
                    continue;
                float px = a[3 * i], py = a[3 * i + 1], pz = a[3 * i + 2], best = -1e9f, second = -1e9f;
#pragma omp simd reduction(max : best)
                for (int j = 0; j < n; j++) {
                    float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
                    value[j] = 3 - sqrtf(dx * dx + dy * dy + dz * dz) - cost[j];
                    best = value[j] > best ? value[j] : best;
                }
                int at = 0;
                while (value[at] != best)
                    at++;
                value[at] = -1e9f;
#pragma omp simd reduction(max : second)
                for (int j = 0; j < n; j++)
                    second = value[j] > second ? value[j] : second;
                float increment = best - second + eps;
                uint bits;
                memcpy(&bits, &increment, 4);
                ull key = (ull)bits << 32 | (i + 1);
                if (key > highest[at])
                    highest[at] = key;
            }
            for (int j = 0; j < n; j++)
                if (highest[j]) {
                    int i = (int)(uint)highest[j] - 1;
                    uint bits = highest[j] >> 32;
                    float increment;
                    memcpy(&increment, &bits, 4);
                    if (inverse[j] != -1)
                        partner[inverse[j]] = -1;
                    inverse[j] = i;
                    partner[i] = j;
                    cost[j] += increment;
                    highest[j] = 0;
                }
        }
        for (int i = 0; i < n; i++) {
            float d = 0;
            int k = partner[i];
            if (k < 0)
                unassigned[b]++;
            else
                for (int q = 0; q < 3; q++)
                    d += (a[3 * i + q] - c[3 * k + q]) * (a[3 * i + q] - c[3 * k + q]);
            dist[b * n + i] = d;
        }
    }
    free(x);
    free(value);
    free(highest);
}

// Candidates for new centres of a clustering: distances for stretches of points, coordinate by coordinate.
#include "native.h"
enum { W = 512 };

void run(const float *restrict coord, const float *restrict weight, float *restrict cost, int *restrict assign,
         int *restrict centre, char *restrict open, int *restrict used, const int *restrict candidates, int n, int dim,
         int slots, int count, float z) {
    float *x_cost = malloc(n * sizeof(float)), *lower = malloc(slots * sizeof(float));
    for (int c = 0; c < count; c++) {
        int x = candidates[c];
        float opening = 0;
        memset(lower, 0, slots * sizeof(float));
        for (int first = 0; first < n; first += W) {
            int lanes = MIN(W, n - first);
            float *restrict sum = x_cost + first;
            memset(sum, 0, lanes * sizeof(float));
            for (int k = 0; k < dim; k++) {
                const float *restrict row = coord + (long)k * n + first;
                float to = coord[(long)k * n + x];
#pragma omp simd
                for (int i = 0; i < lanes; i++)
                    sum[i] += (row[i] - to) * (row[i] - to);
            }
#pragma omp simd
            for (int i = 0; i < lanes; i++)
                sum[i] *= weight[first + i];
            for (int i = first; i < first + lanes; i++) {
                float gain = x_cost[i] - cost[i];
                if (gain < 0)
                    opening += gain;
                else
                    lower[assign[i]] -= gain;
            }
        }
        float gain = -(z + opening);
        for (int s = 0; s < *used; s++)
            if (open[s] && z + lower[s] > 0)
                gain += z + lower[s];
        if (!(gain > 0))
            continue;
        for (int s = 0; s < *used; s++)
            if (open[s] && z + lower[s] > 0)
                open[s] = 0;
        int slot = (*used)++;
        centre[slot] = x;
        open[slot] = 1;
        for (int i = 0; i < n; i++)
            if (x_cost[i] < cost[i] || !open[assign[i]]) {
                cost[i] = x_cost[i];
                assign[i] = slot;
            }
    }
    free(x_cost);
    free(lower);
}

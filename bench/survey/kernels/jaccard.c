#include "native.h"

// Jaccard's similarity along a graph's edges: the shorter list's elements are looked for in the longer.
void run(const int *restrict start, const int *restrict column, const float *restrict weight,
         float *restrict similarity, int n, float gamma) {
    float *work = malloc(n * sizeof(float));
    for (int row = 0; row < n; row++) {
        float sum = 0;
        for (int e = start[row]; e < start[row + 1]; e++)
            sum += weight[column[e]];
        work[row] = sum;
    }
    for (int row = 0; row < n; row++)
        for (int e = start[row]; e < start[row + 1]; e++) {
            int other = column[e], length = start[row + 1] - start[row], more = start[other + 1] - start[other];
            int reference = length < more ? row : other, current = length < more ? other : row;
            const int *first = column + start[current];
            int count = start[current + 1] - start[current];
            float common = 0;
            for (int i = start[reference]; i < start[reference + 1]; i++) {
                int key = column[i];
                const int *at = first;
                for (int left = count; left > 1;) {
                    int half = left / 2;
                    at += at[half] <= key ? half : 0;
                    left -= half;
                }
                if (*at == key)
                    common += weight[key];
            }
            float all = work[row] + work[other] - common;
            similarity[e] = all > 0 ? gamma * (common / all) : 0;
        }
    free(work);
}

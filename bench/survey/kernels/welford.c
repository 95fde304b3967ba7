#include "native.h"

void run(const float *restrict x, const float *restrict factor, const float *restrict summand, float *restrict y,
         float *restrict kept, int fours, float little, int rows) {
    int n = 4 * fours;
    for (int r = 0; r < rows; r++) {
        const float *row = x + r * n;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < n; i++)
            sum += row[i];
        float mean = sum / n;
#pragma omp simd reduction(+ : squares)
        for (int i = 0; i < n; i++)
            squares += (row[i] - mean) * (row[i] - mean);
        float scale = 1 / sqrtf(squares / n + little);
        for (int i = 0; i < n; i++)
            y[r * n + i] = (row[i] - mean) * scale * factor[i] + summand[i];
        kept[2 * r] = mean;
        kept[2 * r + 1] = scale;
    }
}

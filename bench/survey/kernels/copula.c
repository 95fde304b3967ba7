#include "native.h"

typedef struct {
    float barrier, loading;
    int units, pad;
} Name;

void run(const Name *restrict names, const double *restrict factors, const double *restrict weights,
         double *restrict conditional, double *restrict distribution, const double *restrict tranches,
         double *restrict expected, int count, int max_units, int points, int all_units, int slices) {
    size_t width = max_units + 1;
    memset(distribution, 0, width * sizeof(double));
    for (int f = 0; f < points; f++) {
        double *restrict loss = conditional + f * width;
        memset(loss, 0, width * sizeof(double));
        loss[0] = 1;
        int highest = 0;
        for (int i = 0; i < count; i++) {
            double a = names[i].loading, x = (names[i].barrier - a * factors[f]) / sqrt(1 - a * a);
            double p = 0.5 * erfc(-x * 0.70710678118654752), stay = 1 - p;
            int units = names[i].units;
            highest = MIN(highest + units, max_units);
            // in place from above, in pieces that do not meet what they read
            double before[16];
            for (int top = highest; top >= 0; top -= 16) {
                int low = MAX(0, top - 15);
                for (int k = low; k <= top; k++)
                    before[k - low] = k >= units ? loss[k - units] : 0;
                for (int k = low; k <= top; k++)
                    loss[k] = loss[k] * stay + before[k - low] * p;
            }
        }
        for (size_t k = 0; k < width; k++)
            distribution[k] += weights[f] * loss[k];
    }
    for (int t = 0; t < slices; t++) {
        double low = tranches[2 * t], size = tranches[2 * t + 1] - low, sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k <= max_units; k++) {
            double loss = (double)k / all_units - low;
            loss = MAX(loss, 0);
            sum += distribution[k] * MIN(loss, size);
        }
        expected[t] = sum / size;
    }
}

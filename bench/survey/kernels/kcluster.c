#include "native.h"

void run(const float *restrict p, const float *restrict centre, float *restrict sums, int *restrict counts, int n, int k) {
    for (int i = 0; i < n; i++) {
        float best = 3.4e38f;
        int at = 0;
        for (int j = 0; j < k; j++) {
            float dx = p[2 * i] - centre[2 * j], dy = p[2 * i + 1] - centre[2 * j + 1], d = dx * dx + dy * dy;
            at = d < best ? j : at;
            best = d < best ? d : best;
        }
        sums[2 * at] += p[2 * i];
        sums[2 * at + 1] += p[2 * i + 1];
        counts[at]++;
    }
}

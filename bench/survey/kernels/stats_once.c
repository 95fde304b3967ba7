// Least, greatest, where they are, mean and variance of many numbers, by Welford in lanes that are merged at the end.
#include "native.h"

enum { W = 16 };

void run(const float *restrict x, float *restrict values, int *restrict places, int n) {
    float low[W], high[W];
    int low_at[W], high_at[W];
    double mean[W] = {0}, m2[W] = {0};
    int rounds = n / W;
    for (int l = 0; l < W; l++) {
        low[l] = high[l] = x[MIN(l, n - 1)];
        low_at[l] = high_at[l] = MIN(l, n - 1);
    }
    for (int k = 0; k < rounds; k++) {
        double inv = 1.0 / (k + 1);
#pragma omp simd
        for (int l = 0; l < W; l++) {
            float v = x[k * W + l];
            int i = k * W + l;
            low_at[l] = v < low[l] ? i : low_at[l];
            low[l] = v < low[l] ? v : low[l];
            high_at[l] = v > high[l] ? i : high_at[l];
            high[l] = v > high[l] ? v : high[l];
            double d = v - mean[l];
            mean[l] += d * inv;
            m2[l] += d * (v - mean[l]);
        }
    }
    double all = 0, all2 = 0, count = 0;
    float least = x[0], most = x[0];
    int least_at = 0, most_at = 0;
    for (int l = 0; l < W; l++) {
        if (low[l] < least || (low[l] == least && low_at[l] < least_at))
            least = low[l], least_at = low_at[l];
        if (high[l] > most || (high[l] == most && high_at[l] < most_at))
            most = high[l], most_at = high_at[l];
        if (rounds) {
            double d = mean[l] - all, share = rounds / (count + rounds);
            all += d * share;
            all2 += m2[l] + d * d * count * share;
            count += rounds;
        }
    }
    for (int i = rounds * W; i < n; i++) {
        if (x[i] < least)
            least = x[i], least_at = i;
        if (x[i] > most)
            most = x[i], most_at = i;
        double d = x[i] - all;
        count++;
        all += d / count;
        all2 += d * (x[i] - all);
    }
    values[0] = least;
    values[1] = most;
    values[2] = all;
    values[3] = all2 / (n - 1);
    places[0] = least_at;
    places[1] = most_at;
}

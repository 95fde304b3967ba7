// Indicators of stocks: bands with days in vectors, then RSI and MACD day by day.
#include "native.h"
enum { WINDOW = 20, PART = 64 };

void run(const float *restrict price, float *restrict upper, float *restrict lower, float *restrict rsi,
         float *restrict macd, signed char *restrict advice, int stocks, int days, int period) {
    for (int s = 0; s < stocks; s++) {
        const float *restrict p = price + (long)s * days;
        float *restrict high = upper + (long)s * days, *restrict low = lower + (long)s * days;
        float *restrict r = rsi + (long)s * days, *restrict m = macd + (long)s * days;
        signed char *restrict say = advice + (long)s * days;
        for (int d = 0; d < MIN(days, WINDOW - 1); d++)
            high[d] = low[d] = 0;
        for (int first = WINDOW - 1; first < days; first += PART) {
            int count = MIN(PART, days - first);
            const float *restrict from = p + first;
            double mean[PART] = {0}, variance[PART] = {0};
            for (int k = 0; k < WINDOW; k++)
#pragma omp simd
                for (int d = 0; d < count; d++)
                    mean[d] += from[d - k];
            for (int d = 0; d < count; d++)
                mean[d] /= WINDOW;
            for (int k = 0; k < WINDOW; k++)
#pragma omp simd
                for (int d = 0; d < count; d++) {
                    double e = from[d - k] - mean[d];
                    variance[d] += e * e;
                }
#pragma omp simd
            for (int d = 0; d < count; d++) {
                double deviation = sqrt(variance[d] / WINDOW);
                high[first + d] = mean[d] + 2 * deviation;
                low[first + d] = mean[d] - 2 * deviation;
            }
        }
        float gain = 0, loss = 0, fast = p[0], slow = p[0], signal = 0;
        r[0] = 50, m[0] = 0, say[0] = 0;
        for (int d = 1; d < days; d++) {
            float change = p[d] - p[d - 1], up = change > 0 ? change : 0, down = change < 0 ? -change : 0;
            if (d <= period) {
                gain += up / period;
                loss += down / period;
            } else {
                gain = (gain * (period - 1) + up) / period;
                loss = (loss * (period - 1) + down) / period;
            }
            r[d] = d < period ? 50 : loss == 0 ? 100 : 100 - 100 / (1 + gain / loss);
            fast += (p[d] - fast) * 2.0 / 13;
            slow += (p[d] - slow) * 2.0 / 27;
            float e = fast - slow;
            signal += (e - signal) * 0.2;
            m[d] = e - signal;
        }
#pragma omp simd
        for (int d = 1; d < days; d++) {
            int buy = (d >= WINDOW) & (r[d] < 40) & (p[d] < low[d]);
            int sell = (d >= WINDOW) & (r[d] > 60) & (p[d] > high[d]);
            say[d] = buy - sell;
        }
    }
}

// Windows of a time, 32 rows at most, over a column with nulls: least, greatest, mean and median in one go; the
// window's start goes along.
#include "native.h"

enum { MOST = 32 };

void run(const double *restrict in, const uint *restrict mask, const int64_t *restrict time, double *restrict least,
         double *restrict greatest, double *restrict mean, double *restrict median, uint *restrict out_mask,
         int *restrict valid_count, int n, long long range, int min_periods) {
    memset(out_mask, 0, (n + 31) / 32 * sizeof(uint));
    int start = 0, total = 0;
    for (int i = 0; i < n; i++) {
        double window[MOST], sum = 0;
        int count = 0;
        while (i - start >= MOST || time[start] <= time[i] - range && start < i)
            start++;
        for (int j = start; j <= i; j++)
            if (mask[j >> 5] >> (j & 31) & 1) {
                double v = in[j];
                int k = count++;
                sum += v;
                for (; k > 0 && window[k - 1] > v; k--)
                    window[k] = window[k - 1];
                window[k] = v;
            }
        int valid = count >= min_periods;
        least[i] = valid ? window[0] : 0;
        greatest[i] = valid ? window[count - 1] : 0;
        mean[i] = valid ? sum / count : 0;
        median[i] = !valid ? 0 : count & 1 ? window[count / 2] : 0.5 * (window[count / 2 - 1] + window[count / 2]);
        out_mask[i >> 5] |= (uint)valid << (i & 31);
        total += valid;
    }
    *valid_count += 4 * total;
}

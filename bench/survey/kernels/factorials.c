// Factorials as decimal text: the digits of 16 numbers side by side, which are multiplied together.
#include "native.h"
enum { LANES = 16 };

void run(const int *restrict numbers, signed char *restrict digits, int *restrict lengths, int n, int max_digits) {
    uint(*restrict d)[LANES] = malloc((max_digits + 8L) * sizeof *d);
    for (int first = 0; first < n; first += LANES) {
        int count = MIN(LANES, n - first), most = 0, length = 1;
        int number[LANES] = {0};
        for (int l = 0; l < count; l++)
            number[l] = numbers[first + l], most = MAX(most, number[l]);
        for (int l = 0; l < LANES; l++)
            d[0][l] = 1;
        for (int k = 2; k <= most; k++) {
            uint factor[LANES], carry[LANES] = {0}, any = 1;
            for (int l = 0; l < LANES; l++)
                factor[l] = k <= number[l] ? k : 1;
            for (int i = 0; i < length; i++)
#pragma omp simd
                for (int l = 0; l < LANES; l++) {
                    uint t = d[i][l] * factor[l] + carry[l];
                    carry[l] = t / 10;
                    d[i][l] = t - 10 * carry[l];
                }
            for (;;) {
                any = 0;
                for (int l = 0; l < LANES; l++)
                    any |= carry[l];
                if (!any)
                    break;
                for (int l = 0; l < LANES; l++) {
                    d[length][l] = carry[l] % 10;
                    carry[l] /= 10;
                }
                length++;
            }
        }
        for (int l = 0; l < count; l++) {
            int own = length;
            while (d[own - 1][l] == 0)
                own--;
            signed char *restrict to = digits + (long)(first + l) * max_digits;
            for (int i = 0; i < own; i++)
                to[i] = '0' + d[own - 1 - i][l];
            lengths[first + l] = own;
        }
    }
    free(d);
}

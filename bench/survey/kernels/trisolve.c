#include "native.h"

void run(const int *restrict begin, const int *restrict columns, const double *restrict values, const double *restrict b,
         double *restrict x, int *restrict done, int n) {
    for (int i = 0; i < n; i++) {
        double sum = b[i];
        int j = begin[i];
        for (; j < begin[i + 1] - 1; j++)
            sum -= values[j] * x[columns[j]];
        x[i] = sum / values[j];
        done[i] = 1;
    }
}

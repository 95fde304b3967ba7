#include "native.h"

void run(const int *restrict key, const float *restrict value, int *restrict kept_row, float *restrict kept_value,
         int *restrict counter, int n, int low, int high, float least) {
    int count = *counter;
    for (int i = 0; i < n; i++) {
        // written always, and kept by counting: no branch to guess
        kept_row[count] = i;
        kept_value[count] = value[i];
        count += (key[i] >= low) & (key[i] < high) & (value[i] > least);
    }
    if (count < n)
        kept_row[count] = 0, kept_value[count] = 0;
    *counter = count;
}

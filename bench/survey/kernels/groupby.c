#include "native.h"
void run(const int *restrict key, const int *restrict value, int *restrict counts, int *restrict sums, int n) {
    for (int i = 0; i < n; i++) { counts[key[i]]++; sums[key[i]] += value[i]; }
}

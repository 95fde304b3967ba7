#include "native.h"

void run(const int *restrict a, const int *restrict b, int *restrict out, int na, int nb) {
    int i = 0, j = 0;
    while (i < na && j < nb)
        if (a[i] <= b[j])
            *out++ = a[i++];
        else
            *out++ = b[j++];
    while (i < na)
        *out++ = a[i++];
    while (j < nb)
        *out++ = b[j++];
}

#include "native.h"

void run(const int *restrict a, const int *restrict q, int *restrict o, int n, int m) {
    for (int i = 0; i < m; i++) {
        int v = q[i], lo = 0, hi = n;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (a[mid] < v)
                lo = mid + 1;
            else
                hi = mid;
        }
        o[i] = lo;
    }
}

#include "native.h"

void run(const int *restrict x, int *restrict y, int rows, int n) {
    for (int r = 0; r < rows; r++) {
        int m = -2147483647;
        for (int i = 0; i < n; i++) {
            int v = x[r * n + i];
            m = v > m ? v : m;
            y[r * n + i] = m;
        }
    }
}

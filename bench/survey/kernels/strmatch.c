#include "native.h"

void run(const char *restrict s, const char *restrict p, int *restrict count, int n, int m) {
    int c = 0;
    for (int i = 0; i <= n - m; i++) {
        int j = 0;
        while (j < m && s[i + j] == p[j])
            j++;
        c += j == m;
    }
    *count += c;
}

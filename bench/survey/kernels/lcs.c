#include "native.h"

void run(const char *restrict a, const char *restrict b, int *restrict table, int n) {
    int w = n + 1;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            table[i * w + j] = a[i - 1] == b[j - 1] ? table[(i - 1) * w + j - 1] + 1
                                                    : MAX(table[(i - 1) * w + j], table[i * w + j - 1]);
}

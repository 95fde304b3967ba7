#include "native.h"

void run(const char *restrict word, const char *restrict others, int *restrict rows, int *restrict out, int m, int n, int count) {
    for (int t = 0; t < count; t++) {
        const char *other = others + t * n;
        int *row = rows + t * (n + 1);
        for (int j = 0; j <= n; j++)
            row[j] = j;
        for (int i = 1; i <= m; i++) {
            int corner = row[0];
            row[0] = i;
            for (int j = 1; j <= n; j++) {
                int above = row[j];
                row[j] = MIN(MIN(above, row[j - 1]) + 1, corner + (word[i - 1] != other[j - 1]));
                corner = above;
            }
        }
        out[t] = row[n];
    }
}

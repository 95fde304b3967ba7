// The folding of RNA with most pairs: row by row from the last, sums of whole rows in vectors.
#include "native.h"
enum { MIN_LOOP = 3, MAX_STACK = 256 };

static inline int pairs(char a, char b) {
    return (a == 'A' && b == 'U') || (a == 'C' && b == 'G') || (a == 'G' && (b == 'C' || b == 'U')) ||
           (a == 'U' && (b == 'A' || b == 'G'));
}

// row[j], for all j after k, from the best of i to k and that of k + 1 to j.
static inline void split(short *restrict row, const short *restrict rest, short left, int from, int n) {
#pragma omp simd
    for (int j = from; j < n; j++) {
        short sum = left + rest[j];
        row[j] = MAX(row[j], sum);
    }
}

void run(const char *restrict sequences, char *restrict folded, int *restrict scores, int n, int count) {
    short *table = malloc((size_t)n * n * sizeof *table);
    for (int s = 0; s < count; s++) {
        const char *sequence = sequences + (long)s * n;
        char *out = folded + (long)s * n;
        memset(table, 0, (size_t)n * n * sizeof *table);
        for (int i = n - 2; i >= 0; i--) {
            short *row = table + (long)i * n;
            const short *below = row + n;
            for (int j = i + MIN_LOOP + 1; j < n; j++)
                row[j] = pairs(sequence[i], sequence[j]) ? below[j - 1] + 1 : 0;
            for (int k = i; k < n - 1; k++)
                split(row, table + (long)(k + 1) * n, row[k], k + 1, n);
        }
        memset(out, '.', n);
        scores[s] = table[n - 1];
        struct {
            short i, j;
        } stack[MAX_STACK];
        int depth = 1;
        stack[0].i = 0, stack[0].j = n - 1;
        while (depth > 0) {
            int i = stack[--depth].i, j = stack[depth].j, value;
            if (j - i <= MIN_LOOP || (value = table[i * n + j]) == 0)
                continue;
            if (value == table[(i + 1) * n + j]) {
                stack[depth].i = i + 1, stack[depth++].j = j;
            } else if (pairs(sequence[i], sequence[j]) && value == table[(i + 1) * n + j - 1] + 1) {
                out[i] = '(', out[j] = ')';
                stack[depth].i = i + 1, stack[depth++].j = j - 1;
            } else {
                int k = i + 1;
                while (value != table[i * n + k] + table[(k + 1) * n + j])
                    k++;
                stack[depth].i = i, stack[depth++].j = k;
                stack[depth].i = k + 1, stack[depth++].j = j;
            }
        }
    }
    free(table);
}

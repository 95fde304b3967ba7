#include "native.h"
enum { MAX_NAME = 16 };

// What is matched are bits.
static double jaro_winkler(const char *restrict a, int la, const char *restrict b, int lb) {
    if (!la || !lb)
        return 0;
    int window = MAX(la, lb) / 2 - 1, matches = 0, swapped = 0;
    uint in_a = 0, in_b = 0;
    for (int i = 0; i < la; i++)
        for (int j = MAX(0, i - window); j <= MIN(lb - 1, i + window); j++)
            if (a[i] == b[j] && !(in_b >> j & 1)) {
                in_a |= 1u << i, in_b |= 1u << j;
                matches++;
                break;
            }
    if (!matches)
        return 0;
    for (uint x = in_a, y = in_b; x; x &= x - 1, y &= y - 1)
        swapped += a[__builtin_ctz(x)] != b[__builtin_ctz(y)];
    double m = matches, jaro = (m / la + m / lb + (m - 0.5 * swapped) / m) / 3.0;
    int prefix = 0;
    while (prefix < 4 && prefix < la && prefix < lb && a[prefix] == b[prefix])
        prefix++;
    return jaro + prefix * 0.1 * (1 - jaro);
}

void run(const char *restrict sought, const char *restrict names, float *restrict score, int *restrict best,
         float *restrict best_score, int num_sought, int num_names) {
    uchar *length = malloc(num_names);
    for (int n = 0; n < num_names; n++)
        length[n] = strnlen(names + n * MAX_NAME, MAX_NAME);
    for (int s = 0; s < num_sought; s++) {
        const char *wanted = sought + s * MAX_NAME;
        int size = strnlen(wanted, MAX_NAME), where = 0;
        float *mine = score + (long)s * num_names;
        for (int n = 0; n < num_names; n++) {
            mine[n] = jaro_winkler(wanted, size, names + n * MAX_NAME, length[n]);
            where = mine[n] > mine[where] ? n : where;
        }
        best[s] = where;
        best_score[s] = mine[where];
    }
    free(length);
}

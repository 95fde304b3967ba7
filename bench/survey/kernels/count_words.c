#include "native.h"

static inline int is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

void run(const char *restrict text, int *restrict counts, int n, int length) {
    for (int t = 0; t * length < n; t++) {
        int first = t * length, end = MIN(n, first + length), count = 0;
        int space = first == 0 || is_space(text[first - 1]);
        for (int i = first; i < end; i++) {
            int next = is_space(text[i]);
            count += space && !next;
            space = next;
        }
        counts[t] = count;
    }
}

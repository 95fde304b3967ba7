// Knuth-Morris-Pratt: the failures of a pattern once, then all documents.
#include "native.h"
enum { MAX_PATTERN = 24 };

void run(const char *restrict text, const long long *restrict offset, const char *restrict patterns,
         int *restrict count, long long *restrict first, int docs, int num_patterns) {
    for (int p = 0; p < num_patterns; p++) {
        const char *pattern = patterns + p * MAX_PATTERN;
        int m = strnlen(pattern, MAX_PATTERN), fail[MAX_PATTERN] = {0};
        for (int i = 1, k = 0; i < m; i++) {
            while (k > 0 && pattern[i] != pattern[k])
                k = fail[k - 1];
            k += pattern[i] == pattern[k];
            fail[i] = k;
        }
        for (int doc = 0; doc < docs; doc++) {
            const char *from = text + offset[doc];
            long length = offset[doc + 1] - offset[doc];
            int found = 0, j = 0;
            long where = -1;
            for (long i = 0; i < length; i++) {
                char c = from[i];
                while (j > 0 && c != pattern[j])
                    j = fail[j - 1];
                j += c == pattern[j];
                if (j == m) {
                    if (found++ == 0)
                        where = i - m + 1;
                    j = fail[j - 1];
                }
            }
            count[doc * num_patterns + p] = found;
            first[doc * num_patterns + p] = where;
        }
    }
}

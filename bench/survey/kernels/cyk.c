// Sentences parsed by Cocke, Younger and Kasami.
#include "native.h"

typedef struct {
    uchar parent, right;
} Rule;

void run(const uchar *restrict words, const int *restrict starts, const ull *restrict lexicon,
         const Rule *restrict rules, const unsigned short *restrict rules_of, ull *restrict roots,
         int *restrict cells, int sentences) {
    ull *table = malloc(128 * 128 * sizeof *table);  // [first][length]
    for (int s = 0; s < sentences; s++) {
        int n = starts[s + 1] - starts[s], filled = 0;
        for (int i = 0; i < n; i++)
            table[i * 128 + 1] = lexicon[words[starts[s] + i]];
        for (int length = 2; length <= n; length++)
            for (int first = 0; first + length <= n; first++) {
                ull found = 0;
                for (int split = 1; split < length; split++) {
                    ull left = table[first * 128 + split], right = table[(first + split) * 128 + length - split];
                    if (!right)
                        continue;
                    for (; left; left &= left - 1) {
                        int b = __builtin_ctzll(left);
                        for (int k = rules_of[b]; k < rules_of[b + 1]; k++)
                            found |= (right >> rules[k].right & 1) << rules[k].parent;
                    }
                }
                table[first * 128 + length] = found;
                filled += found != 0;
            }
        cells[s] += filled;
        roots[s] = table[n];
    }
    free(table);
}

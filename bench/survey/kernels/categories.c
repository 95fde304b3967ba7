#include "native.h"

void run(const uint16_t *restrict text, const uchar *restrict index, const uchar *restrict pages,
         uchar *restrict kinds, int *restrict words, int n) {
    int before = 0;
    for (int s = 0; s < n; s += 256) {
        int starts = 0;
        for (int i = s; i < MIN(s + 256, n); i++) {
            int kind = pages[index[text[i] >> 8] * 256 + (text[i] & 255)];
            starts += kind == 1 && before != 1;
            kinds[i] = kind;
            before = kind;
        }
        words[s / 256] = starts;
    }
}

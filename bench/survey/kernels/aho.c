#include "native.h"

void run(const uchar *restrict text, const uint16_t *restrict next, int *restrict hits, int n, int states, int overlap) {
    int state = 0;
    for (int start = 0; start < n; start += 64) {
        int found = 0, end = MIN(start + 64, n);
        for (int i = start; i < end; i++) {
            uint16_t e = next[state * 32 + (text[i] & 31)];
            state = e & 0x7fff;
            found += e >> 15;
        }
        hits[start / 64] = found;
    }
}

// Posting lists in Elias' gamma code, 32 gaps a list, each from a new word on; written and read.
#include "native.h"

enum { GAPS = 32 };

void run(const uint *restrict documents, int *restrict places, uint *restrict code, uint *restrict decoded,
         uint *restrict check, int lists) {
    int at = 0;
    for (int t = 0; t < lists; t++) {
        const uint *d = documents + (size_t)t * GAPS;
        uint last = 0;
        ull word = 0;
        int used = 0;
        places[t] = at;
        for (int i = 0; i < GAPS; i++) {
            uint gap = d[i] - last;
            int n = 31 - __builtin_clz(gap);
            last = d[i];
            word |= 1ull << n << used;
            used += n + 1;
            if (used >= 32) {
                code[at++] = word;
                word >>= 32;
                used -= 32;
            }
            word |= (ull)(gap & ((1u << n) - 1)) << used;
            used += n;
            if (used >= 32) {
                code[at++] = word;
                word >>= 32;
                used -= 32;
            }
        }
        if (used)
            code[at++] = word;
    }
    places[lists] = at;
    for (int t = 0; t < lists; t++) {
        const uint *in = code + places[t];
        uint *d = decoded + (size_t)t * GAPS, last = 0, sum = 0;
        ull word = in[0] | (ull)in[1] << 32;
        int used = 0;
        in += 2;
        for (int i = 0; i < GAPS; i++) {
            int n = __builtin_ctzll(word >> used);
            used += n + 1;
            if (used >= 32) {
                word = word >> 32 | (ull)*in++ << 32;
                used -= 32;
            }
            last += 1u << n | ((uint)(word >> used) & ((1u << n) - 1));
            used += n;
            if (used >= 32) {
                word = word >> 32 | (ull)*in++ << 32;
                used -= 32;
            }
            d[i] = last;
            sum ^= last ^ (sum << 7 | sum >> 25);
        }
        check[t] = sum;
    }
}

#include "native.h"

void run(const uint *restrict words, const int *restrict starts, const uint16_t *restrict table, uchar *restrict out,
         int streams, int letters) {
    for (int s = 0; s < streams; s++) {
        const uint *p = words + starts[s];
        ull bits = 0;
        int have = 0;
        for (int k = 0; k < letters; k++) {
            if (have < 8) {
                bits |= (ull)*p++ << have;
                have += 32;
            }
            uint16_t e = table[bits & 255];
            out[s * letters + k] = e & 255;
            bits >>= e >> 8;
            have -= e >> 8;
        }
    }
}

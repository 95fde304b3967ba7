#include "native.h"

void run(const uint *restrict t, const uint *restrict data, uint *restrict out, int n, int words) {
    for (int i = 0; i < n; i++) {
        uint c = ~0u;
        const uint *p = data + (long)i * words;
        for (int k = 0; k < words; k++) {
            uint w = p[k];
            for (int b = 0; b < 4; b++) {
                c = t[(c ^ w) & 255] ^ (c >> 8);
                w >>= 8;
            }
        }
        out[i] = ~c;
    }
}

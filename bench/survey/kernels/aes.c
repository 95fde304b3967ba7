#include "native.h"

void run(const uint *restrict in, uint *restrict out, const uint *restrict t, const uint *restrict keys, int rounds, int n) {
    for (int i = 0; i < n; i++) {
        uint s[4], v[4];
        memcpy(s, in + 4 * i, 16);
        for (int r = 0; r < rounds; r++) {
            for (int k = 0; k < 4; k++)
                v[k] = t[s[k] >> 24] ^ t[256 + (s[(k + 1) & 3] >> 16 & 255)] ^ t[512 + (s[(k + 2) & 3] >> 8 & 255)] ^
                       t[768 + (s[(k + 3) & 3] & 255)] ^ keys[4 * r + k];
            memcpy(s, v, 16);
        }
        memcpy(out + 4 * i, s, 16);
    }
}

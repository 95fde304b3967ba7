#include "native.h"

static void row(const uint *in, uint *ones, uint *twos, int w, int middle) {
    for (int x = 0; x < w; x++) {
        uint c = in[x], l = c << 1 | in[x ? x - 1 : w - 1] >> 31, r = c >> 1 | in[x < w - 1 ? x + 1 : 0] << 31;
        ones[x] = middle ? l ^ r : l ^ c ^ r;
        twos[x] = middle ? l & r : (l & c) | (r & (l | c));
    }
}

void run(const uint *restrict in, uint *restrict out, int w, int h) {
    uint s[6][4096];
    for (int y = 0; y < h; y++) {
        for (int k = 0; k < 3; k++)
            row(in + (long)((y + h + k - 1) % h) * w, s[k], s[k + 3], w, k == 1);
        for (int x = 0; x < w; x++) {
            uint one = s[0][x] ^ s[1][x] ^ s[2][x], carry = (s[0][x] & s[1][x]) | (s[2][x] & (s[0][x] | s[1][x]));
            uint two = s[3][x] ^ s[4][x] ^ s[5][x], four = (s[3][x] & s[4][x]) | (s[5][x] & (s[3][x] | s[4][x]));
            four |= two & carry;
            two ^= carry;
            out[y * w + x] = two & ~four & (one | in[y * w + x]);
        }
    }
}

#include "native.h"
#define TURN(x, by) ((x) >> (by) | (x) << (32 - (by)))

void run(const uint *restrict words, const uint *restrict constants, uint *restrict digests, int n)
{
    for (int i = 0; i < n; i++) {
        uint w[64], s[8];
        for (int k = 0; k < 16; k++)
            w[k] = words[k * n + i];
        for (int k = 16; k < 64; k++)
            w[k] = w[k - 16] + w[k - 7] + (TURN(w[k - 15], 7) ^ TURN(w[k - 15], 18) ^ w[k - 15] >> 3) +
                   (TURN(w[k - 2], 17) ^ TURN(w[k - 2], 19) ^ w[k - 2] >> 10);
        memcpy(s, constants + 64, sizeof s);
        for (int round = 0; round < 64; round++) {
            uint e = s[4], a = s[0];
            uint first = s[7] + (TURN(e, 6) ^ TURN(e, 11) ^ TURN(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                         constants[round] + w[round];
            uint second = (TURN(a, 2) ^ TURN(a, 13) ^ TURN(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += first;
            s[0] = first + second;
        }
        for (int k = 0; k < 8; k++)
            digests[k * n + i] = s[k] + constants[64 + k];
    }
}

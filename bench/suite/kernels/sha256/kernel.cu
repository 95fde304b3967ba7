// SHA-256 of one padded 64-byte block for each thread. `constants`: 64 of the rounds, 8 of the first state.
#include "dialect.h"
#define TURN(x, by) ((x) >> (by) | (x) << (32 - (by)))

KERNEL void sha256(GLOBAL const uint *words, GLOBAL const uint *constants, GLOBAL uint *digests, int n)
{
    int i = INDEX_X;
    if (i >= n)
        return;
    uint w[16], s[8];
    UNROLL for (int k = 0; k < 16; k++)
        w[k] = words[k * n + i];
    UNROLL for (int k = 0; k < 8; k++)
        s[k] = constants[64 + k];
    UNROLL for (int round = 0; round < 64; round++) {
        if (round >= 16) {
            uint old = w[(round + 1) & 15], late = w[(round + 14) & 15];
            w[round & 15] += w[(round + 9) & 15] + (TURN(old, 7) ^ TURN(old, 18) ^ old >> 3) +
                             (TURN(late, 17) ^ TURN(late, 19) ^ late >> 10);
        }
        uint e = s[4], a = s[0];
        uint first = s[7] + (TURN(e, 6) ^ TURN(e, 11) ^ TURN(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                     constants[round] + w[round & 15];
        uint second = (TURN(a, 2) ^ TURN(a, 13) ^ TURN(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        UNROLL for (int k = 7; k > 0; k--)
            s[k] = s[k - 1];
        s[4] += first;
        s[0] = first + second;
    }
    UNROLL for (int k = 0; k < 8; k++)
        digests[k * n + i] = s[k] + constants[64 + k];
}

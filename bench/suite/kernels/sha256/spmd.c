// A lane is a message.
#include "native.h"
#define TURN(x, by) ((x) >> (by) | (x) << (32 - (by)))

void run(const uint *restrict words, const uint *restrict constants, uint *restrict digests, int n)
{
    for (int i = 0; i < n; i += 16) {
        uvec w[16], s[8];
        for (int k = 0; k < 16; k++)
            w[k] = ULOAD(words + k * n + i);
        for (int k = 0; k < 8; k++)
            s[k] = (uvec){0} + constants[64 + k];
#pragma GCC unroll 64
        for (int round = 0; round < 64; round++) {
            if (round >= 16) {
                uvec old = w[(round + 1) & 15], late = w[(round + 14) & 15];
                w[round & 15] += w[(round + 9) & 15] + (TURN(old, 7) ^ TURN(old, 18) ^ old >> 3) +
                                 (TURN(late, 17) ^ TURN(late, 19) ^ late >> 10);
            }
            uvec e = s[4], a = s[0];
            uvec first = s[7] + (TURN(e, 6) ^ TURN(e, 11) ^ TURN(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                         constants[round] + w[round & 15];
            uvec second = (TURN(a, 2) ^ TURN(a, 13) ^ TURN(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
#pragma GCC unroll 7
            for (int k = 7; k > 0; k--)
                s[k] = s[k - 1];
            s[4] += first;
            s[0] = first + second;
        }
        for (int k = 0; k < 8; k++)
            USTORE(digests + k * n + i, s[k] + constants[64 + k]);
    }
}

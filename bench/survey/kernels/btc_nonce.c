// A miner's search by SHA-256 twice: sixteen numbers go through the rounds side by side.
#include "native.h"

enum { W = 16 };
typedef uint lanes __attribute__((vector_size(4 * W)));

static const uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static const uint INITIAL[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

#define ROR(x, n) ((x) >> (n) | (x) << (32 - (n)))

static inline void block(lanes *state, lanes *w) {
    lanes a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
          h = state[7];
#pragma GCC unroll 64
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            lanes w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
            w[i & 15] += (ROR(w15, 7) ^ ROR(w15, 18) ^ w15 >> 3) + w[(i + 9) & 15] +
                         (ROR(w2, 17) ^ ROR(w2, 19) ^ w2 >> 10);
        }
        lanes t1 = h + (ROR(e, 6) ^ ROR(e, 11) ^ ROR(e, 25)) + (g ^ (e & (f ^ g))) + K[i] + w[i & 15];
        lanes t2 = (ROR(a, 2) ^ ROR(a, 13) ^ ROR(a, 22)) + ((a & b) | (c & (a | b)));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void run(const uint *restrict header, uint *restrict found, uint *restrict found_count, ull *restrict best, uint first,
         uint count, uint target, uint room) {
    lanes middle[8], s[8], w[16], zero = {0}, line;
    for (int l = 0; l < W; l++)
        line[l] = l;
    for (int i = 0; i < 16; i++)
        w[i] = zero + header[i];
    for (int i = 0; i < 8; i++)
        middle[i] = zero + INITIAL[i];
    block(middle, w);
    for (uint id = 0; id < count; id += W) {
        for (int l = 0; l < W; l++)
            w[3][l] = __builtin_bswap32(first + id + l);
        for (int i = 0; i < 3; i++)
            w[i] = zero + header[16 + i];
        w[4] = zero + 0x80000000u;
        for (int i = 5; i < 15; i++)
            w[i] = zero;
        w[15] = zero + 640;
        memcpy(s, middle, sizeof s);
        block(s, w);
        for (int i = 0; i < 8; i++) {
            w[i] = s[i];
            s[i] = zero + INITIAL[i];
            w[i + 8] = zero;
        }
        w[8] = zero + 0x80000000u;
        w[15] = zero + 256;
        block(s, w);
        for (uint l = 0; l < MIN(W, count - id); l++) {
            uint top = __builtin_bswap32(s[7][l]), nonce = first + id + l;
            if (top < target) {
                if (*found_count < room)
                    found[*found_count] = nonce;
                ++*found_count;
                *best = MIN(*best, (ull)top << 32 | nonce);
            }
        }
    }
}

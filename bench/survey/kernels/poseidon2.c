// A Merkle tree by Poseidon2 over BabyBear, 16 permutations side by side in vectors.
#include "native.h"

enum { WIDTH = 16, RATE = 8, F = 8, P = 13, W = 16 };
#define MOD 0x78000001u

typedef struct {
    uint external[F][WIDTH], internal[P], diagonal[WIDTH];
} Constants;
typedef uint State[WIDTH][W];

static inline uint add(uint a, uint b) {
    uint s = a + b;
    return MIN(s, s - MOD);
}

static inline uint mul(uint a, uint b) {
    ull p = (ull)a * b;
    uint r = (p + (ull)((uint)p * 0x77ffffffu) * MOD) >> 32;
    return MIN(r, r - MOD);
}

static inline uint pow7(uint x) {
    uint x2 = mul(x, x), x3 = mul(x2, x);
    return mul(mul(x2, x2), x3);
}

static inline void linear(State s) {
#pragma omp simd
    for (int l = 0; l < W; l++) {
        uint sums[4] = {0, 0, 0, 0};
#pragma GCC unroll 4
        for (int i = 0; i < WIDTH; i += 4) {
            uint a = s[i][l], b = s[i + 1][l], c = s[i + 2][l], d = s[i + 3][l];
            uint ab = add(a, b), cd = add(c, d), all = add(ab, cd), allb = add(all, b), alld = add(all, d);
            s[i + 3][l] = add(alld, add(a, a));
            s[i + 1][l] = add(allb, add(c, c));
            s[i][l] = add(allb, ab);
            s[i + 2][l] = add(alld, cd);
            for (int k = 0; k < 4; k++)
                sums[k] = add(sums[k], s[i + k][l]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < WIDTH; i++)
            s[i][l] = add(s[i][l], sums[i & 3]);
    }
}

static inline void full(State s, const uint *restrict c) {
    for (int i = 0; i < WIDTH; i++)
#pragma omp simd
        for (int l = 0; l < W; l++)
            s[i][l] = pow7(add(s[i][l], c[i]));
    linear(s);
}

static void permute(State s, const Constants *restrict c) {
    linear(s);
    for (int r = 0; r < F / 2; r++)
        full(s, c->external[r]);
    for (int r = 0; r < P; r++) {
        uint sum[W];
#pragma omp simd
        for (int l = 0; l < W; l++)
            sum[l] = s[0][l] = pow7(add(s[0][l], c->internal[r]));
        for (int i = 1; i < WIDTH; i++)
#pragma omp simd
            for (int l = 0; l < W; l++)
                sum[l] = add(sum[l], s[i][l]);
        for (int i = 0; i < WIDTH; i++)
#pragma omp simd
            for (int l = 0; l < W; l++)
                s[i][l] = add(mul(s[i][l], c->diagonal[i]), sum[l]);
    }
    for (int r = F / 2; r < F; r++)
        full(s, c->external[r]);
}

void run(const Constants *restrict constants, const uint *restrict columns, uint *restrict tree, int rows, int width) {
    State s;
    for (int first = 0; first < rows; first += W) {
        int lanes = MIN(W, rows - first);
        memset(s, 0, sizeof s);
        for (int k = 0; k < width; k += RATE) {
            for (int i = 0; i < RATE; i++) {
                memset(s[i], 0, sizeof s[i]);
                if (k + i < width)
                    memcpy(s[i], columns + (long)(k + i) * rows + first, lanes * sizeof(uint));
            }
            permute(s, constants);
        }
        for (int l = 0; l < lanes; l++)
            for (int i = 0; i < 8; i++)
                tree[(long)(first + l) * 8 + i] = s[i][l];
    }
    uint *children = tree;
    for (int count = rows / 2; count > 0; count /= 2) {
        uint *parents = children + (long)count * 2 * 8;
        for (int first = 0; first < count; first += W) {
            int lanes = MIN(W, count - first);
            for (int l = 0; l < lanes; l++)
                for (int i = 0; i < WIDTH; i++)
                    s[i][l] = children[(long)(first + l) * WIDTH + i];
            permute(s, constants);
            for (int l = 0; l < lanes; l++)
                for (int i = 0; i < 8; i++)
                    parents[(long)(first + l) * 8 + i] = s[i][l];
        }
        children = parents;
    }
}

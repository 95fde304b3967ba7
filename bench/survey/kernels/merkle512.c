// A Merkle tree of SHA-512: eight messages side by side, so that gcc makes vectors.
#include "native.h"
enum { W = 8 };

static const ull K[80] = {
    0x428a2f98d728ae22ull, 0x7137449123ef65cdull, 0xb5c0fbcfec4d3b2full, 0xe9b5dba58189dbbcull,
    0x3956c25bf348b538ull, 0x59f111f1b605d019ull, 0x923f82a4af194f9bull, 0xab1c5ed5da6d8118ull,
    0xd807aa98a3030242ull, 0x12835b0145706fbeull, 0x243185be4ee4b28cull, 0x550c7dc3d5ffb4e2ull,
    0x72be5d74f27b896full, 0x80deb1fe3b1696b1ull, 0x9bdc06a725c71235ull, 0xc19bf174cf692694ull,
    0xe49b69c19ef14ad2ull, 0xefbe4786384f25e3ull, 0x0fc19dc68b8cd5b5ull, 0x240ca1cc77ac9c65ull,
    0x2de92c6f592b0275ull, 0x4a7484aa6ea6e483ull, 0x5cb0a9dcbd41fbd4ull, 0x76f988da831153b5ull,
    0x983e5152ee66dfabull, 0xa831c66d2db43210ull, 0xb00327c898fb213full, 0xbf597fc7beef0ee4ull,
    0xc6e00bf33da88fc2ull, 0xd5a79147930aa725ull, 0x06ca6351e003826full, 0x142929670a0e6e70ull,
    0x27b70a8546d22ffcull, 0x2e1b21385c26c926ull, 0x4d2c6dfc5ac42aedull, 0x53380d139d95b3dfull,
    0x650a73548baf63deull, 0x766a0abb3c77b2a8ull, 0x81c2c92e47edaee6ull, 0x92722c851482353bull,
    0xa2bfe8a14cf10364ull, 0xa81a664bbc423001ull, 0xc24b8b70d0f89791ull, 0xc76c51a30654be30ull,
    0xd192e819d6ef5218ull, 0xd69906245565a910ull, 0xf40e35855771202aull, 0x106aa07032bbd1b8ull,
    0x19a4c116b8d2d0c8ull, 0x1e376c085141ab53ull, 0x2748774cdf8eeb99ull, 0x34b0bcb5e19b48a8ull,
    0x391c0cb3c5c95a63ull, 0x4ed8aa4ae3418acbull, 0x5b9cca4f7763e373ull, 0x682e6ff3d6b2b8a3ull,
    0x748f82ee5defb2fcull, 0x78a5636f43172f60ull, 0x84c87814a1f0ab72ull, 0x8cc702081a6439ecull,
    0x90befffa23631e28ull, 0xa4506cebde82bde9ull, 0xbef9a3f7b2c67915ull, 0xc67178f2e372532bull,
    0xca273eceea26619cull, 0xd186b8c721c0c207ull, 0xeada7dd6cde0eb1eull, 0xf57d4f7fee6ed178ull,
    0x06f067aa72176fbaull, 0x0a637dc5a2c898a6ull, 0x113f9804bef90daeull, 0x1b710b35131c471bull,
    0x28db77f523047d84ull, 0x32caab7b40c72493ull, 0x3c9ebe0a15c9bebcull, 0x431d67c49c100d4cull,
    0x4cc5d4becb3e42b6ull, 0x597f299cfc657e2aull, 0x5fcb6fab3ad6faecull, 0x6c44198c4a475817ull,
};
static const ull H[8] = {
    0x6a09e667f3bcc908ull, 0xbb67ae8584caa73bull, 0x3c6ef372fe94f82bull, 0xa54ff53a5f1d36f1ull,
    0x510e527fade682d1ull, 0x9b05688c2b3e6c1full, 0x1f83d9abfb41bd6bull, 0x5be0cd19137e2179ull,
};

static inline ull rotated(ull x, int n) {
    return x >> n | x << (64 - n);
}

static void compress(ull (*restrict state)[W], ull (*restrict w)[W]) {
    ull s[8][W];
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 80; i++) {
        ull *wi = w[i & 15];
        const ull *x = w[(i + 1) & 15], *y = w[(i + 14) & 15], *z = w[(i + 9) & 15];
        if (i >= 16)
#pragma omp simd
            for (int l = 0; l < W; l++)
                wi[l] += (rotated(x[l], 1) ^ rotated(x[l], 8) ^ x[l] >> 7) + z[l] +
                         (rotated(y[l], 19) ^ rotated(y[l], 61) ^ y[l] >> 6);
        // names move, numbers stay
        ull *a = s[-i & 7], *b = s[(1 - i) & 7], *c = s[(2 - i) & 7], *d = s[(3 - i) & 7];
        ull *e = s[(4 - i) & 7], *f = s[(5 - i) & 7], *g = s[(6 - i) & 7], *h = s[(7 - i) & 7];
#pragma omp simd
        for (int l = 0; l < W; l++) {
            ull t = h[l] + (rotated(e[l], 14) ^ rotated(e[l], 18) ^ rotated(e[l], 41)) +
                    (g[l] ^ (e[l] & (f[l] ^ g[l]))) + K[i] + wi[l];
            d[l] += t;
            h[l] = t + (rotated(a[l], 28) ^ rotated(a[l], 34) ^ rotated(a[l], 39)) +
                   ((a[l] & b[l]) | (c[l] & (a[l] | b[l])));
        }
    }
    for (int k = 0; k < 8; k++)
#pragma omp simd
        for (int l = 0; l < W; l++)
            state[k][l] += s[k][l];
}

static void start(ull (*state)[W]) {
    for (int k = 0; k < 8; k++)
        for (int l = 0; l < W; l++)
            state[k][l] = H[k];
}

static ull swapped(const uchar *p) {
    ull v;
    memcpy(&v, p, 8);
    return __builtin_bswap64(v);
}

// One message into lane `lane`: its 128 bytes that begin at `at`, of a byte 0, the record, and the padding.
static void fill(ull (*restrict w)[W], int lane, const uchar *restrict record, int length, int at, int blocks) {
    uchar bytes[128] = {0};
    for (int i = 0; i < 128;) {
        int k = at + i;  // in the padded message
        if (k == 0 || k > length) {
            if (k == length + 1)
                bytes[i] = 0x80;
            i++;
        } else {
            int part = MIN(128 - i, length + 1 - k);
            memcpy(bytes + i, record + k - 1, part);
            i += part;
        }
    }
    for (int k = 0; k < 16; k++)
        w[k][lane] = swapped(bytes + 8 * k);
    if (at == (blocks - 1) * 128)
        w[15][lane] = (ull)(length + 1) * 8;
}

void run(const uchar *restrict data, const int *restrict offsets, ull *restrict root, int n) {
    ull *level = malloc((size_t)n * 64), state[8][W], w[16][W] = {0};
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first), blocks[W], most = 0;
        start(state);
        for (int l = 0; l < lanes; l++) {
            blocks[l] = (offsets[first + l + 1] - offsets[first + l] + 1 + 17 + 127) / 128;
            most = MAX(most, blocks[l]);
        }
        for (int b = 0; b < most; b++) {
            for (int l = 0; l < lanes; l++)
                if (b < blocks[l]) {
                    int from = offsets[first + l];
                    fill(w, l, data + from, offsets[first + l + 1] - from, b * 128, blocks[l]);
                }
            compress(state, w);
            for (int l = 0; l < lanes; l++)
                if (b == blocks[l] - 1)
                    for (int k = 0; k < 8; k++)
                        level[(size_t)(first + l) * 8 + k] = state[k][l];
        }
    }
    for (; n > 1; n = (n + 1) / 2) {
        int pairs = n / 2;
        for (int first = 0; first < pairs; first += W) {
            int lanes = MIN(W, pairs - first);
            ull last[W] = {0};
            start(state);
            for (int l = 0; l < lanes; l++) {
                const ull *pair = level + (size_t)(first + l) * 16;
                ull carried = 1;
                for (int k = 0; k < 16; k++) {
                    w[k][l] = carried << 56 | pair[k] >> 8;
                    carried = pair[k] & 0xff;
                }
                last[l] = carried;
            }
            compress(state, w);
            memset(w, 0, sizeof w);
            for (int l = 0; l < W; l++) {
                w[0][l] = last[l] << 56 | 0x80ull << 48;
                w[15][l] = 129 * 8;
            }
            compress(state, w);
            for (int l = 0; l < lanes; l++)
                for (int k = 0; k < 8; k++)
                    level[(size_t)(first + l) * 8 + k] = state[k][l];
        }
        if (n & 1)
            memmove(level + (size_t)pairs * 8, level + (size_t)(n - 1) * 8, 64);
    }
    memcpy(root, level, 64);
    free(level);
}

// Keys from passwords by PBKDF2 with HMAC-SHA-512: a password a thread, both padded keys hashed once.
typedef unsigned long long u64;

__constant__ u64 K[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

struct State {
    u64 h[8];
};

__device__ __forceinline__ u64 rotr(u64 x, int n) {
    return x >> n | x << (64 - n);
}

__device__ State initial() {
    return {{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
             0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}};
}

__device__ __noinline__ void compress(State &s, u64 w[16]) {
    u64 a = s.h[0], b = s.h[1], c = s.h[2], d = s.h[3], e = s.h[4], f = s.h[5], g = s.h[6], h = s.h[7];
    for (int i = 0; i < 80; i += 16) {
#pragma unroll
        for (int j = 0; j < 16; j++) {
            u64 t1 = h + (rotr(e, 14) ^ rotr(e, 18) ^ rotr(e, 41)) + ((e & f) ^ (~e & g)) + K[i + j] + w[j];
            u64 t2 = (rotr(a, 28) ^ rotr(a, 34) ^ rotr(a, 39)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        if (i == 64)
            break;
#pragma unroll
        for (int j = 0; j < 16; j++) {
            u64 x = w[(j + 1) & 15], y = w[(j + 14) & 15];
            w[j] += (rotr(x, 1) ^ rotr(x, 8) ^ x >> 7) + w[(j + 9) & 15] + (rotr(y, 19) ^ rotr(y, 61) ^ y >> 6);
        }
    }
    s.h[0] += a, s.h[1] += b, s.h[2] += c, s.h[3] += d, s.h[4] += e, s.h[5] += f, s.h[6] += g, s.h[7] += h;
}

// The hash of a padded key and one block of 64 bytes after it.
__device__ State finish(State s, const u64 *message) {
    u64 w[16];
    for (int i = 0; i < 8; i++)
        w[i] = message[i];
    w[8] = 1ull << 63;
    for (int i = 9; i < 15; i++)
        w[i] = 0;
    w[15] = 8 * (128 + 64);
    compress(s, w);
    return s;
}

extern "C" __global__ void pbkdf512(const unsigned char *__restrict__ passwords, const int *__restrict__ start,
                                    const u64 *__restrict__ salt, u64 *__restrict__ keys, int n, int iterations) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    const unsigned char *password = passwords + start[id];
    int length = start[id + 1] - start[id];
    u64 key[16], w[16];
    for (int i = 0; i < 16; i++) {
        u64 v = 0;
        for (int b = 0; b < 8; b++) {
            int at = 8 * i + b;
            v = v << 8 | (at < length ? password[at] : 0);
        }
        key[i] = v;
    }
    State inner = initial(), outer = initial();
    for (int i = 0; i < 16; i++)
        w[i] = key[i] ^ 0x3636363636363636;
    compress(inner, w);
    for (int i = 0; i < 16; i++)
        w[i] = key[i] ^ 0x5c5c5c5c5c5c5c5c;
    compress(outer, w);

    // Salt of 16 bytes, number of the block.
    State u = inner;
    w[0] = salt[0];
    w[1] = salt[1];
    w[2] = 1ull << 32 | 1ull << 31;
    for (int i = 3; i < 15; i++)
        w[i] = 0;
    w[15] = 8 * (128 + 20);
    compress(u, w);
    u = finish(outer, u.h);
    State t = u;
    for (int it = 1; it < iterations; it++) {
        u = finish(inner, u.h);
        u = finish(outer, u.h);
        for (int i = 0; i < 8; i++)
            t.h[i] ^= u.h[i];
    }
    for (int i = 0; i < 8; i++)
        keys[8 * (size_t)id + i] = t.h[i];
}

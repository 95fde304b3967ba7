// SHA-256 of many short messages as libraries for microcontrollers have it: a context with a block of bytes, which
// is filled byte by byte, in each thread.
typedef unsigned char uchar;
typedef unsigned int uint;

struct Context {
    uchar block[64];
    uint used;
    unsigned long long bits;
    uint state[8];
};

__constant__ uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ uint turned(uint x, int n) { return (x >> n) | (x << (32 - n)); }

__device__ void take(Context *c) {
    uint w[64];
    for (int i = 0; i < 16; i++)
        w[i] = (uint)c->block[4 * i] << 24 | (uint)c->block[4 * i + 1] << 16 | (uint)c->block[4 * i + 2] << 8 |
               c->block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    uint s[8];
    for (int i = 0; i < 8; i++)
        s[i] = c->state[i];
    for (int i = 0; i < 64; i++) {
        uint t1 = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                  K[i] + w[i];
        uint t2 = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                  ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + t1;
        s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        c->state[i] += s[i];
}

__device__ void begin(Context *c) {
    const uint first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    c->used = 0;
    c->bits = 0;
    for (int i = 0; i < 8; i++)
        c->state[i] = first[i];
}

__device__ void add(Context *c, const uchar *data, uint length) {
    for (uint i = 0; i < length; i++) {
        c->block[c->used++] = data[i];
        if (c->used == 64) {
            take(c);
            c->bits += 512;
            c->used = 0;
        }
    }
}

__device__ void finish(Context *c, uchar *digest) {
    uint i = c->used;
    c->block[i++] = 0x80;
    if (c->used >= 56) {
        while (i < 64)
            c->block[i++] = 0;
        take(c);
        i = 0;
    }
    while (i < 56)
        c->block[i++] = 0;
    c->bits += c->used * 8;
    for (int k = 0; k < 8; k++)
        c->block[63 - k] = c->bits >> 8 * k;
    take(c);
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 8; j++)
            digest[4 * j + k] = c->state[j] >> (24 - 8 * k);
}

extern "C" __global__ void sha_context(const uchar *messages, uchar *digests, uint length, uint count) {
    uint id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    Context c;
    begin(&c);
    add(&c, messages + id * length, length);
    finish(&c, digests + id * 32);
}

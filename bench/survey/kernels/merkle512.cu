// A Merkle tree of SHA-512: a thread hashes each record (of its own length, behind a byte 0), then launches hash pairs
// of digests (behind a byte 1) until there is one; a digest without a partner goes up as it is.
typedef unsigned long long word;

struct Digest {
    word h[8];
};

__constant__ word round_constants[80] = {
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

__constant__ word first_digest[8] = {
    0x6a09e667f3bcc908ull, 0xbb67ae8584caa73bull, 0x3c6ef372fe94f82bull, 0xa54ff53a5f1d36f1ull,
    0x510e527fade682d1ull, 0x9b05688c2b3e6c1full, 0x1f83d9abfb41bd6bull, 0x5be0cd19137e2179ull,
};

__device__ __forceinline__ word rotated(word x, int n) {
    return (x >> n) | (x << (64 - n));
}

__device__ void compress(word (&state)[8], const word (&block)[16]) {
    word w[16];
    for (int i = 0; i < 16; i++)
        w[i] = block[i];
    word a = state[0], b = state[1], c = state[2], d = state[3];
    word e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll 16
    for (int i = 0; i < 80; i++) {
        if (i >= 16) {
            word x = w[(i + 1) & 15], y = w[(i + 14) & 15];
            word s0 = rotated(x, 1) ^ rotated(x, 8) ^ (x >> 7);
            word s1 = rotated(y, 19) ^ rotated(y, 61) ^ (y >> 6);
            w[i & 15] += s0 + w[(i + 9) & 15] + s1;
        }
        word sum1 = rotated(e, 14) ^ rotated(e, 18) ^ rotated(e, 41);
        word choice = (e & f) ^ (~e & g);
        word t1 = h + sum1 + choice + round_constants[i] + w[i & 15];
        word sum0 = rotated(a, 28) ^ rotated(a, 34) ^ rotated(a, 39);
        word majority = (a & b) ^ (a & c) ^ (b & c);
        word t2 = sum0 + majority;
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

// Takes bytes one by one.
struct Sha512 {
    word state[8];
    word block[16];
    int used;
    word length;

    __device__ void start() {
        for (int i = 0; i < 8; i++)
            state[i] = first_digest[i];
        used = 0;
        length = 0;
        clear();
    }
    __device__ void clear() {
        for (int i = 0; i < 16; i++)
            block[i] = 0;
    }
    __device__ void put(unsigned char byte) {
        block[used >> 3] |= (word)byte << (56 - 8 * (used & 7));
        if (++used == 128) {
            compress(state, block);
            clear();
            used = 0;
        }
    }
    __device__ void update(unsigned char byte) {
        put(byte);
        length++;
    }
    __device__ Digest finish() {
        put(0x80);
        while (used != 112)
            put(0);
        block[15] = length * 8;
        compress(state, block);
        Digest digest;
        for (int i = 0; i < 8; i++)
            digest.h[i] = state[i];
        return digest;
    }
};

extern "C" __global__ void merkle_leaves(const unsigned char *__restrict__ data, const int *__restrict__ offsets,
                                         Digest *digests, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Sha512 sha;
    sha.start();
    sha.update(0);
    for (int k = offsets[i]; k < offsets[i + 1]; k++)
        sha.update(data[k]);
    digests[i] = sha.finish();
}

extern "C" __global__ void merkle_level(const Digest *__restrict__ below, Digest *__restrict__ above, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i >= n)
        return;
    if (2 * i + 1 == n) {
        above[i] = below[2 * i];
        return;
    }
    // one byte, two digests, the end: two blocks that are known to a byte
    const word *pair = below[2 * i].h;
    word state[8], block[16];
    for (int k = 0; k < 8; k++)
        state[k] = first_digest[k];
    word carried = 1;
    for (int k = 0; k < 16; k++) {
        block[k] = carried << 56 | pair[k] >> 8;
        carried = pair[k] & 0xff;
    }
    compress(state, block);
    block[0] = carried << 56 | 0x80ull << 48;
    for (int k = 1; k < 15; k++)
        block[k] = 0;
    block[15] = 129 * 8;
    compress(state, block);
    for (int k = 0; k < 8; k++)
        above[i].h[k] = state[k];
}

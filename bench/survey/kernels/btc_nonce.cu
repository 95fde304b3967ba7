// A miner's search: numbers whose header, hashed by SHA-256 twice, has many zeros at its end. The first 64 bytes of the
// header are hashed once; finds go to a list, and the best is kept by a 64-bit minimum.
#include <stdint.h>

__constant__ uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__constant__ uint32_t INITIAL[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

template <int N>
__device__ __forceinline__ uint32_t ror(uint32_t x) {
    return __funnelshift_r(x, x, N);
}

__device__ __forceinline__ void sha256_block(uint32_t (&state)[8], uint32_t (&w)[16]) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
             h = state[7];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint32_t w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
            w[i & 15] += (ror<7>(w15) ^ ror<18>(w15) ^ w15 >> 3) + w[(i + 9) & 15] +
                         (ror<17>(w2) ^ ror<19>(w2) ^ w2 >> 10);
        }
        uint32_t t1 = h + (ror<6>(e) ^ ror<11>(e) ^ ror<25>(e)) + (g ^ (e & (f ^ g))) + K[i] + w[i & 15];
        uint32_t t2 = (ror<2>(a) ^ ror<13>(a) ^ ror<22>(a)) + ((a & b) | (c & (a | b)));
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

extern "C" __global__ void btc_midstate(const uint32_t *header, uint32_t *midstate) {
    uint32_t s[8], w[16];
    for (int i = 0; i < 8; i++)
        s[i] = INITIAL[i];
    for (int i = 0; i < 16; i++)
        w[i] = header[i];
    sha256_block(s, w);
    for (int i = 0; i < 8; i++)
        midstate[i] = s[i];
}

extern "C" __global__ void __launch_bounds__(256)
    btc_nonce(const uint32_t *__restrict__ header, const uint32_t *__restrict__ midstate, uint32_t *found,
              uint32_t *found_count, unsigned long long *best, uint32_t first, uint32_t count, uint32_t target,
              uint32_t room) {
    const uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    const uint32_t nonce = first + id;
    uint32_t s[8], w[16] = {header[16], header[17], header[18], __byte_perm(nonce, 0, 0x0123), 0x80000000u};
    w[15] = 640;
#pragma unroll
    for (int i = 0; i < 8; i++)
        s[i] = midstate[i];
    sha256_block(s, w);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        w[i] = s[i];
        s[i] = INITIAL[i];
        w[i + 8] = 0;
    }
    w[8] = 0x80000000u;
    w[15] = 256;
    sha256_block(s, w);

    const uint32_t top = __byte_perm(s[7], 0, 0x0123);
    if (top < target) {
        uint32_t at = atomicAdd(found_count, 1u);
        if (at < room)
            found[at] = nonce;
        atomicMin(best, (unsigned long long)top << 32 | nonce);
    }
}

// MurmurHash3 in 128 bits of strings that lie one after another in a buffer: blocks of 16 bytes, put together byte by
// byte as they may start anywhere, and a tail of up to 15.
#include <cstdint>

__device__ __forceinline__ uint64_t rotl64(uint64_t x, int r) {
    return (x << r) | (x >> (64 - r));
}

__device__ __forceinline__ uint64_t fmix64(uint64_t k) {
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdull;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53ull;
    k ^= k >> 33;
    return k;
}

__device__ uint64_t get_block(const uint8_t *p, int i) {
    uint64_t result = 0;
    for (int b = 0; b < 8; b++)
        result |= (uint64_t)p[8 * i + b] << 8 * b;
    return result;
}

__device__ void murmur(const uint8_t *data, int length, uint32_t seed, uint64_t *out) {
    const uint64_t c1 = 0x87c37b91114253d5ull, c2 = 0x4cf5ad432745937full;
    const int blocks = length / 16;
    uint64_t h1 = seed, h2 = seed;
    for (int i = 0; i < blocks; i++) {
        uint64_t k1 = get_block(data, 2 * i), k2 = get_block(data, 2 * i + 1);
        k1 *= c1;
        k1 = rotl64(k1, 31);
        k1 *= c2;
        h1 ^= k1;
        h1 = rotl64(h1, 27);
        h1 += h2;
        h1 = h1 * 5 + 0x52dce729;
        k2 *= c2;
        k2 = rotl64(k2, 33);
        k2 *= c1;
        h2 ^= k2;
        h2 = rotl64(h2, 31);
        h2 += h1;
        h2 = h2 * 5 + 0x38495ab5;
    }

    const uint8_t *tail = data + blocks * 16;
    uint64_t k1 = 0, k2 = 0;
    switch (length & 15) {
    case 15:
        k2 ^= (uint64_t)tail[14] << 48;
    case 14:
        k2 ^= (uint64_t)tail[13] << 40;
    case 13:
        k2 ^= (uint64_t)tail[12] << 32;
    case 12:
        k2 ^= (uint64_t)tail[11] << 24;
    case 11:
        k2 ^= (uint64_t)tail[10] << 16;
    case 10:
        k2 ^= (uint64_t)tail[9] << 8;
    case 9:
        k2 ^= (uint64_t)tail[8];
        k2 *= c2;
        k2 = rotl64(k2, 33);
        k2 *= c1;
        h2 ^= k2;
    case 8:
        k1 ^= (uint64_t)tail[7] << 56;
    case 7:
        k1 ^= (uint64_t)tail[6] << 48;
    case 6:
        k1 ^= (uint64_t)tail[5] << 40;
    case 5:
        k1 ^= (uint64_t)tail[4] << 32;
    case 4:
        k1 ^= (uint64_t)tail[3] << 24;
    case 3:
        k1 ^= (uint64_t)tail[2] << 16;
    case 2:
        k1 ^= (uint64_t)tail[1] << 8;
    case 1:
        k1 ^= (uint64_t)tail[0];
        k1 *= c1;
        k1 = rotl64(k1, 31);
        k1 *= c2;
        h1 ^= k1;
    }
    h1 ^= length;
    h2 ^= length;
    h1 += h2;
    h2 += h1;
    h1 = fmix64(h1);
    h2 = fmix64(h2);
    h1 += h2;
    h2 += h1;
    out[0] = h1;
    out[1] = h2;
}

extern "C" __global__ void murmur3(const uint8_t *__restrict__ text, const uint32_t *__restrict__ start,
                                   uint64_t *__restrict__ hashes, uint32_t keys, uint32_t seed) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < keys; i += blockDim.x * gridDim.x)
        murmur(text + start[i], start[i + 1] - start[i], seed, hashes + 2 * (size_t)i);
}

// A Bloom filter of 64-bit keys: xxHash64 of a key, whose halves make seven places, set by atomicOr and asked for.
typedef unsigned long long u64;

#define PRIME1 0x9E3779B185EBCA87ull
#define PRIME2 0xC2B2AE3D27D4EB4Full
#define PRIME3 0x165667B19E3779F9ull
#define PRIME4 0x85EBCA77C2B2AE63ull
#define PRIME5 0x27D4EB2F165667C5ull
#define HASHES 7

__device__ __forceinline__ u64 rotl(u64 x, int r) {
    return (x << r) | (x >> (64 - r));
}

__device__ u64 xxhash64(u64 key, u64 seed) {
    u64 h = seed + PRIME5 + 8;
    u64 k = rotl(key * PRIME2, 31) * PRIME1;
    h ^= k;
    h = rotl(h, 27) * PRIME1 + PRIME4;
    h ^= h >> 33;
    h *= PRIME2;
    h ^= h >> 29;
    h *= PRIME3;
    h ^= h >> 32;
    return h;
}

__device__ u64 fmix64(u64 k) {
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdull;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53ull;
    k ^= k >> 33;
    return k;
}

extern "C" __global__ void bloom_build(const u64 *__restrict__ keys, unsigned int *filter, int n, u64 bits, u64 seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 h1 = xxhash64(keys[i], seed);
    u64 h2 = fmix64(h1) | 1;
    for (int k = 0; k < HASHES; k++) {
        u64 bit = __umul64hi(h1 + k * h2, bits);
        atomicOr(&filter[bit >> 5], 1u << (bit & 31));
    }
}

extern "C" __global__ void bloom_query(const u64 *__restrict__ keys, const unsigned int *__restrict__ filter,
                                       unsigned char *maybe, int *count, int n, u64 bits, u64 seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 h1 = xxhash64(keys[i], seed);
    u64 h2 = fmix64(h1) | 1;
    bool found = true;
    for (int k = 0; k < HASHES && found; k++) {
        u64 bit = __umul64hi(h1 + k * h2, bits);
        found = (filter[bit >> 5] >> (bit & 31)) & 1;
    }
    maybe[i] = found;
    if (found)
        atomicAdd(count, 1);
}

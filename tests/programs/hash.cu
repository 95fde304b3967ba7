// 64-bit integer work: generators, hashes, wide products, bit counts, byte permutations.
typedef unsigned long long u64;

__device__ u64 mix(u64 z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// The round-th output of a counter-based generator for each seed.
extern "C" __global__ void random_numbers(const u64 *seeds, u64 *result, int rounds, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 state = seeds[i], value = 0;
    for (int round = 0; round < rounds; ++round) {
        state += 0x9e3779b97f4a7c15ull;
        value = mix(state);
    }
    result[i] = value;
}

// FNV-1a over rows of bytes.
extern "C" __global__ void hash_rows(const unsigned char *rows, int width, u64 *hashes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 hash = 0xcbf29ce484222325ull;
    for (int k = 0; k < width; ++k)
        hash = (hash ^ rows[i * width + k]) * 0x100000001b3ull;
    hashes[i] = hash;
}

// Eight facts about pairs of 64-bit numbers.
extern "C" __global__ void integer_facts(const u64 *a, const u64 *b, u64 *facts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 x = a[i], y = b[i], *mine = facts + 8 * i;
    mine[0] = __umul64hi(x, y);
    mine[1] = (u64)__mul64hi((long long)x, (long long)y);
    mine[2] = y ? x / y : 0;
    mine[3] = y ? x % y : 0;
    mine[4] = __popcll(x) + 100 * __clzll((long long)y) + 10000 * __ffsll((long long)x);
    mine[5] = __brevll(x);
    mine[6] = __byte_perm((unsigned)x, (unsigned)y, 0x3715);
    mine[7] = __funnelshift_l((unsigned)x, (unsigned)(x >> 32), (unsigned)y);
}

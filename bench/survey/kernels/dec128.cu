// Columns of decimals: 128-bit prices times 64-bit rates, scaled back with rounding half away from zero, nulls by
// bits and by overflow; sums for groups of rows with 128 bits by two atomics; then averages by division.
struct __align__(16) Decimal {
    unsigned long long low;
    long long high;
};

__constant__ const unsigned long long powers[10] = {1ull,      10ull,      100ull,      1000ull,      10000ull,
                                                    100000ull, 1000000ull, 10000000ull, 100000000ull, 1000000000ull};

__device__ __forceinline__ __int128 load(const Decimal *at) {
    longlong2 v = *reinterpret_cast<const longlong2 *>(at);
    return (__int128)v.y << 64 | (unsigned long long)v.x;
}

__device__ __forceinline__ void store(Decimal *at, __int128 v) {
    *reinterpret_cast<longlong2 *>(at) = make_longlong2((long long)v, (long long)(v >> 64));
}

// a * b / 10^digits; false if it does not fit.
__device__ bool multiply(__int128 a, long long b, int digits, __int128 *result) {
    bool negative = (a < 0) != (b < 0);
    unsigned __int128 x = a < 0 ? -(unsigned __int128)a : (unsigned __int128)a;
    unsigned long long y = b < 0 ? 0ull - (unsigned long long)b : (unsigned long long)b;
    unsigned __int128 low = (unsigned __int128)(unsigned long long)x * y;
    unsigned __int128 high = (unsigned __int128)(unsigned long long)(x >> 64) * y + (unsigned long long)(low >> 64);
    if ((unsigned long long)(high >> 64) != 0)
        return false;
    unsigned __int128 product = high << 64 | (unsigned long long)low;
    unsigned long long scale = powers[digits];
    unsigned __int128 quotient = product / scale;
    unsigned long long rest = (unsigned long long)(product - quotient * scale);
    if (rest >= scale - rest)
        quotient += 1;
    if ((long long)(quotient >> 64) < 0)
        return false;
    *result = negative ? -(__int128)quotient : (__int128)quotient;
    return true;
}

__device__ void add(Decimal *to, __int128 v) {
    unsigned long long low = (unsigned long long)v, high = (unsigned long long)(v >> 64);
    unsigned long long old = atomicAdd(&to->low, low);
    high += old + low < old;
    if (high)
        atomicAdd((unsigned long long *)&to->high, high);
}

extern "C" __global__ void dec_multiply(const Decimal *__restrict__ price, const long long *__restrict__ rate,
                                        const unsigned int *__restrict__ valid, const unsigned char *__restrict__ group,
                                        Decimal *__restrict__ product, unsigned int *__restrict__ product_valid,
                                        Decimal *__restrict__ sums, unsigned int *__restrict__ counts, int n,
                                        int groups, int digits) {
    extern __shared__ Decimal partial[];
    unsigned int *seen = (unsigned int *)(partial + groups);
    for (int g = threadIdx.x; g < groups; g += blockDim.x) {
        partial[g] = {0, 0};
        seen[g] = 0;
    }
    __syncthreads();
    int whole = (n + 31) & ~31;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < whole; i += gridDim.x * blockDim.x) {
        __int128 value = 0;
        bool ok = i < n && (valid[i >> 5] >> (i & 31) & 1);
        if (ok)
            ok = multiply(load(price + i), rate[i], digits, &value);
        unsigned int bits = __ballot_sync(0xffffffffu, ok);
        if ((i & 31) == 0)
            product_valid[i >> 5] = bits;
        if (i < n)
            store(product + i, ok ? value : (__int128)0);
        if (ok) {
            add(partial + group[i], value);
            atomicAdd(seen + group[i], 1u);
        }
    }
    __syncthreads();
    for (int g = threadIdx.x; g < groups; g += blockDim.x)
        if (seen[g]) {
            add(sums + g, load(partial + g));
            atomicAdd(counts + g, seen[g]);
        }
}

extern "C" __global__ void dec_average(const Decimal *sums, const unsigned int *counts, Decimal *average,
                                       int groups) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= groups)
        return;
    __int128 sum = load(sums + g), count = counts[g];
    store(average + g, count ? (sum + (sum < 0 ? -count : count) / 2) / count : (__int128)0);
}

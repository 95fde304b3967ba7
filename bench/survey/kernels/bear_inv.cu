// LogUp in the field BabyBear (p = 15 * 2^27 + 1, Montgomery form): inverses of beta + fingerprint, eight a thread with
// one power by Montgomery's trick, times multiplicities; then the running sum of all, by blocks.
#include <cstdint>
#define PER_THREAD 8

struct Bear {
    uint32_t v;
    static constexpr uint32_t P = 0x78000001u, INV = 0x88000001u, ONE = 0x0ffffffeu;  // P * INV = 1 mod 2^32

    __device__ __forceinline__ friend Bear operator+(Bear a, Bear b) {
        uint32_t s = a.v + b.v;
        return {s >= P ? s - P : s};
    }
    __device__ __forceinline__ friend Bear operator-(Bear a, Bear b) {
        return {a.v >= b.v ? a.v - b.v : a.v - b.v + P};
    }
    __device__ __forceinline__ friend Bear operator*(Bear a, Bear b) {
        uint64_t t = (uint64_t)a.v * b.v;
        uint32_t m = (uint32_t)t * INV;
        uint32_t u = __umulhi(m, P), hi = t >> 32;
        return {hi >= u ? hi - u : hi - u + P};
    }
    __device__ __forceinline__ bool is_zero() const { return v == 0; }
};

__device__ Bear power(Bear base, uint32_t exponent) {
    Bear result = {Bear::ONE};
    while (exponent) {
        if (exponent & 1)
            result = result * base;
        base = base * base;
        exponent >>= 1;
    }
    return result;
}

// Columns: [4][n]. terms[i] = multiplicity / (beta + sum alpha^k column_k), 0 where that is zero.
extern "C" __global__ void logup_terms(const Bear *__restrict__ columns, const Bear *__restrict__ multiplicity,
                                       Bear *__restrict__ terms, Bear alpha, Bear beta, int n) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
    if (first >= n)
        return;
    Bear value[PER_THREAD], prefix[PER_THREAD], product = {Bear::ONE};
    int count = min(PER_THREAD, n - first);
    for (int i = 0; i < count; i++) {
        Bear sum = {0};
#pragma unroll
        for (int k = 3; k >= 0; k--)
            sum = sum * alpha + columns[k * n + first + i];
        value[i] = beta + sum;
        prefix[i] = product;
        if (!value[i].is_zero())
            product = product * value[i];
    }
    Bear inverse = power(product, Bear::P - 2);
    for (int i = count - 1; i >= 0; i--) {
        if (value[i].is_zero()) {
            terms[first + i] = {0};
            continue;
        }
        terms[first + i] = inverse * prefix[i] * multiplicity[first + i];
        inverse = inverse * value[i];
    }
}

// Running sums within a block of 256, and the block's total.
extern "C" __global__ void logup_scan(Bear *__restrict__ terms, Bear *__restrict__ totals, int n) {
    __shared__ uint32_t sums[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    Bear mine = i < n ? terms[i] : Bear{0};
    sums[t] = mine.v;
    __syncthreads();
    for (int offset = 1; offset < 256; offset <<= 1) {
        Bear other = {t >= offset ? sums[t - offset] : 0};
        __syncthreads();
        mine = mine + other;
        sums[t] = mine.v;
        __syncthreads();
    }
    if (i < n)
        terms[i] = mine;
    if (t == 255)
        totals[blockIdx.x] = mine;
}

extern "C" __global__ void logup_totals(Bear *totals, int count) {
    if (threadIdx.x != 0 || blockIdx.x != 0)
        return;
    Bear sum = {0};
    for (int i = 0; i < count; i++) {
        Bear next = sum + totals[i];
        totals[i] = sum;
        sum = next;
    }
}

extern "C" __global__ void logup_add(Bear *__restrict__ terms, const Bear *__restrict__ totals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        terms[i] = terms[i] + totals[i / 256];
}

#include <cstdint>

// Cyclic products of polynomials of 4,096 coefficients modulo 2^64 - 2^32 + 1. A thread has 16 of them in registers
// for four steps of a number-theoretic transform; shared memory hands them on between.
struct Field {
    static constexpr uint64_t P = 0xffffffff00000001ull, EPSILON = 0xffffffffull;
    uint64_t v;

    __device__ __forceinline__ friend Field operator+(Field a, Field b) {
        uint64_t sum = a.v + b.v;
        bool over = sum < a.v;
        sum += over ? EPSILON : 0;
        return {sum >= P ? sum - P : sum};
    }
    __device__ __forceinline__ friend Field operator-(Field a, Field b) {
        uint64_t difference = a.v - b.v;
        return {a.v < b.v ? difference + P : difference};
    }
    __device__ __forceinline__ friend Field operator*(Field a, Field b) {
        uint64_t low = a.v * b.v, high = __umul64hi(a.v, b.v);
        uint64_t top = high >> 32, middle = high & EPSILON;
        uint64_t t = low - top;
        if (low < top)
            t -= EPSILON;
        uint64_t shifted = (middle << 32) - middle;
        uint64_t r = t + shifted;
        if (r < t)
            r += EPSILON;
        return {r >= P ? r - P : r};
    }
};

constexpr int N = 4096, THREADS = 256, ROUNDS = 3;

// Where a thread's element k is in round r.
__device__ __forceinline__ int index_of(int round, int k) {
    int stride = N >> (4 * round + 4), low = threadIdx.x & (stride - 1), group = threadIdx.x / stride;
    return group * 16 * stride + k * stride + low;
}

template <bool INVERSE>
__device__ __forceinline__ void four_steps(Field (&x)[16], const Field *__restrict__ roots, int round) {
    const int stride = N >> (4 * round + 4), low = threadIdx.x & (stride - 1);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int half = INVERSE ? 1 << i : 8 >> i;
#pragma unroll
        for (int k = 0; k < 16; k++) {
            if (k & half)
                continue;
            int j = (k & (half - 1)) * stride + low;
            Field w = roots[j * (N / 2 / (half * stride))];
            if (INVERSE) {
                Field a = x[k], b = x[k + half] * w;
                x[k] = a + b;
                x[k + half] = a - b;
            } else {
                Field a = x[k], b = x[k + half];
                x[k] = a + b;
                x[k + half] = (a - b) * w;
            }
        }
    }
}

__device__ __forceinline__ void exchange(Field (&x)[16], Field *shared, int from, int to) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
        shared[index_of(from, k)] = x[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
        x[k] = shared[index_of(to, k)];
}

__device__ void forward(Field (&x)[16], const Field *a, const Field *roots, Field *shared) {
#pragma unroll
    for (int k = 0; k < 16; k++)
        x[k] = a[index_of(0, k)];
    four_steps<false>(x, roots, 0);
    exchange(x, shared, 0, 1);
    four_steps<false>(x, roots, 1);
    exchange(x, shared, 1, 2);
    four_steps<false>(x, roots, 2);
}

extern "C" __global__ void __launch_bounds__(THREADS) goldi_ntt(const Field *__restrict__ a,
                                                               const Field *__restrict__ b,
                                                               const Field *__restrict__ roots,
                                                               const Field *__restrict__ inverse_roots,
                                                               Field *__restrict__ product, uint64_t one_nth) {
    __shared__ Field shared[N];
    const size_t start = (size_t)blockIdx.x * N;
    Field x[16], y[16];
    forward(x, a + start, roots, shared);
    forward(y, b + start, roots, shared);
#pragma unroll
    for (int k = 0; k < 16; k++)
        x[k] = x[k] * y[k];
    for (int round = ROUNDS - 1; round > 0; round--) {
        four_steps<true>(x, inverse_roots, round);
        exchange(x, shared, round, round - 1);
    }
    four_steps<true>(x, inverse_roots, 0);
#pragma unroll
    for (int k = 0; k < 16; k++)
        product[start + index_of(0, k)] = x[k] * Field{one_nth};
}

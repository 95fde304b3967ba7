// Products of a matrix and a vector of polynomials modulo 3329 as in Kyber (ML-KEM): number-theoretic transforms in
// shared memory, a butterfly a thread, Montgomery's reduction, and the transform back. A CTA has a row of the result.
#include <stdint.h>

#define N 256
#define Q 3329
#define QINV -3327  // Q^-1 modulo 2^16
#define K 3

__constant__ int16_t zetas[128] = {
    -1044, -758, -359, -1517, 1493, 1422, 287, 202, -171, 622, 1577, 182, 962, -1202, -1474, 1468, 573, -1325,
    264, 383, -829, 1458, -1602, -130, -681, 1017, 732, 608, -1542, 411, -205, -1571, 1223, 652, -552, 1015,
    -1293, 1491, -282, -1544, 516, -8, -320, -666, -1618, -1162, 126, 1469, -853, -90, -271, 830, 107, -1421,
    -247, -951, -398, 961, -1508, -725, 448, -1065, 677, -1275, -1103, 430, 555, 843, -1251, 871, 1550, 105,
    422, 587, 177, -235, -291, -460, 1574, 1653, -246, 778, 1159, -147, -777, 1483, -602, 1119, -1590, 644,
    -872, 349, 418, 329, -156, -75, 817, 1097, 603, 610, 1322, -1285, -1465, 384, -1215, -136, 1218, -1335,
    -874, 220, -1187, -1659, -1185, -1530, -1278, 794, -1510, -854, -870, 478, -108, -308, 996, 991, 958, -1460,
    1522, 1628,
};

__device__ __forceinline__ int16_t montgomery_reduce(int32_t a) {
    int16_t t = (int16_t)a * QINV;
    return (a - (int32_t)t * Q) >> 16;
}

__device__ __forceinline__ int16_t barrett_reduce(int16_t a) {
    const int16_t v = ((1 << 26) + Q / 2) / Q;
    int16_t t = ((int32_t)v * a + (1 << 25)) >> 26;
    return a - t * Q;
}

__device__ __forceinline__ int16_t fqmul(int16_t a, int16_t b) {
    return montgomery_reduce((int32_t)a * b);
}

// By 128 threads.
__device__ void ntt(int16_t *r) {
    const int tid = threadIdx.x;
    for (int log_len = 7; log_len >= 1; log_len--) {
        const int len = 1 << log_len;
        const int group = tid >> log_len;
        const int j = (group << (log_len + 1)) + (tid & (len - 1));
        const int16_t zeta = zetas[(128 >> log_len) + group];
        const int16_t t = fqmul(zeta, r[j + len]);
        r[j + len] = r[j] - t;
        r[j] = r[j] + t;
        __syncthreads();
    }
    r[tid] = barrett_reduce(r[tid]);
    r[tid + 128] = barrett_reduce(r[tid + 128]);
    __syncthreads();
}

__device__ void inverse_ntt(int16_t *r) {
    const int tid = threadIdx.x;
    const int16_t f = 1441;  // mont^2 / 128
    for (int log_len = 1; log_len <= 7; log_len++) {
        const int len = 1 << log_len;
        const int group = tid >> log_len;
        const int j = (group << (log_len + 1)) + (tid & (len - 1));
        const int16_t zeta = zetas[(256 >> log_len) - 1 - group];
        const int16_t t = r[j];
        r[j] = barrett_reduce(t + r[j + len]);
        r[j + len] = fqmul(zeta, r[j + len] - t);
        __syncthreads();
    }
    r[tid] = fqmul(r[tid], f);
    r[tid + 128] = fqmul(r[tid + 128], f);
    __syncthreads();
}

// The product of a0 + a1 X and b0 + b1 X modulo X^2 - zeta.
__device__ short2 base_multiply(short2 a, short2 b, int16_t zeta) {
    short2 c;
    c.x = fqmul(fqmul(a.y, b.y), zeta);
    c.x += fqmul(a.x, b.x);
    c.y = fqmul(a.x, b.y);
    c.y += fqmul(a.y, b.x);
    return c;
}

extern "C" __global__ void kyber_ntt(const int16_t *__restrict__ in, int16_t *__restrict__ out) {
    __shared__ int16_t r[N];
    const int tid = threadIdx.x;
    const size_t first = (size_t)blockIdx.x * N;
    r[tid] = in[first + tid];
    r[tid + 128] = in[first + tid + 128];
    __syncthreads();
    ntt(r);
    out[first + tid] = r[tid];
    out[first + tid + 128] = r[tid + 128];
}

// `matrix` is transformed already (it comes from a generator), `secret` and `error` are small.
extern "C" __global__ void kyber_matvec(const short2 *__restrict__ matrix, const short2 *__restrict__ secret_hat,
                                        const int16_t *__restrict__ error, uint16_t *__restrict__ result) {
    __shared__ __align__(4) int16_t r[N];
    const int tid = threadIdx.x, row = blockIdx.x, key = blockIdx.y;
    const int16_t zeta = (tid & 1) ? -zetas[64 + (tid >> 1)] : zetas[64 + (tid >> 1)];
    short2 sum = make_short2(0, 0);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const short2 a = matrix[((size_t)(key * K + row) * K + k) * (N / 2) + tid];
        const short2 s = secret_hat[(size_t)(key * K + k) * (N / 2) + tid];
        const short2 p = base_multiply(a, s, zeta);
        sum.x += p.x;
        sum.y += p.y;
    }
    r[2 * tid] = barrett_reduce(sum.x);
    r[2 * tid + 1] = barrett_reduce(sum.y);
    __syncthreads();
    inverse_ntt(r);
    const size_t first = (size_t)(key * K + row) * N;
    for (int i = tid; i < N; i += blockDim.x) {
        int16_t v = barrett_reduce(r[i] + error[first + i]);
        v += (v >> 15) & Q;
        result[first + i] = v;
    }
}

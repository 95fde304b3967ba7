// The kernel of a diagonal state space model, a product with a Vandermonde matrix of complex powers that is never
// stored, and its gradient for the coefficients.
#include <thrust/complex.h>

using complex_t = thrust::complex<float>;

template <int N> __device__ void vandermonde(const complex_t *c, const complex_t *dt_a, float *k, int H, int L) {
    __shared__ complex_t sc[N], sa[N];
    int h = blockIdx.y;
    if (threadIdx.x < N) {
        sc[threadIdx.x] = c[h * N + threadIdx.x];
        sa[threadIdx.x] = dt_a[h * N + threadIdx.x];
    }
    __syncthreads();
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= L)
        return;
    complex_t sum(0.0f, 0.0f);
#pragma unroll 2
    for (int n = 0; n < N; n++)
        sum += sc[n] * thrust::exp(sa[n] * static_cast<float>(l));
    k[h * L + l] = 2.0f * sum.real();
}

extern "C" __global__ void vander_forward(const float2 *c, const float2 *dt_a, float *k, int H, int L) {
    vandermonde<32>(reinterpret_cast<const complex_t *>(c), reinterpret_cast<const complex_t *>(dt_a), k, H, L);
}

// A block has a head, a warp a coefficient at a time.
extern "C" __global__ void vander_backward(const float *dk, const float2 *dt_a, float2 *dc, int H, int L) {
    const int N = 32;
    int h = blockIdx.x, lane = threadIdx.x % 32;
    for (int n = threadIdx.x / 32; n < N; n += blockDim.x / 32) {
        complex_t a(dt_a[h * N + n].x, dt_a[h * N + n].y), sum(0.0f, 0.0f);
        for (int l = lane; l < L; l += 32)
            sum += 2.0f * dk[h * L + l] * thrust::conj(thrust::exp(a * static_cast<float>(l)));
        float re = sum.real(), im = sum.imag();
        for (int o = 16; o > 0; o /= 2) {
            re += __shfl_down_sync(0xffffffffu, re, o);
            im += __shfl_down_sync(0xffffffffu, im, o);
        }
        if (lane == 0)
            dc[h * N + n] = make_float2(re, im);
    }
}

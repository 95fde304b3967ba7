// Sobol's quasi-random numbers: a thread starts at its own number by Gray's code and goes on by a power of two;
// then the mean of a product over all dimensions, for which blocks add up their points.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define N_DIRECTIONS 32
#define K_2POWNEG32 2.3283064E-10F

extern "C" __global__ void sobol_points(unsigned n_vectors, unsigned n_dimensions, const unsigned *d_directions,
                                        float *d_output) {
    cg::thread_block cta = cg::this_thread_block();
    __shared__ unsigned int v[N_DIRECTIONS];
    d_directions = d_directions + N_DIRECTIONS * blockIdx.y;
    d_output = d_output + n_vectors * blockIdx.y;
    if (threadIdx.x < N_DIRECTIONS)
        v[threadIdx.x] = d_directions[threadIdx.x];
    cg::sync(cta);

    int i0 = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = gridDim.x * blockDim.x;
    unsigned int g = i0 ^ (i0 >> 1);
    unsigned int X = 0;
    unsigned int mask;
    for (unsigned int k = 0; k < __ffs(stride) - 1; k++) {
        mask = -(g & 1);
        X ^= mask & v[k];
        g = g >> 1;
    }
    if (i0 < n_vectors)
        d_output[i0] = (float)X * K_2POWNEG32;

    unsigned int v_log2stridem1 = v[__ffs(stride) - 2];
    unsigned int v_stridemask = stride - 1;
    for (unsigned int i = i0 + stride; i < n_vectors; i += stride) {
        X ^= v_log2stridem1 ^ v[__ffs(~((i - stride) | v_stridemask)) - 1];
        d_output[i] = (float)X * K_2POWNEG32;
    }
}

template <int BLOCK> __device__ double block_sum(double mine, double *shared) {
    shared[threadIdx.x] = mine;
    __syncthreads();
#pragma unroll
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            shared[threadIdx.x] = mine = mine + shared[threadIdx.x + s];
        __syncthreads();
    }
    return mine;
}

extern "C" __global__ void sobol_mean(unsigned n_vectors, unsigned n_dimensions, const float *points, double *sum) {
    __shared__ double shared[128];
    double mine = 0.0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n_vectors; i += gridDim.x * blockDim.x) {
        float product = 1.0f;
        for (unsigned d = 0; d < n_dimensions; d++) {
            float a = 1.0f + d;
            product *= (fabsf(4.0f * points[d * n_vectors + i] - 2.0f) + a) / (1.0f + a);
        }
        mine += product;
    }
    mine = block_sum<128>(mine, shared);
    if (threadIdx.x == 0)
        atomicAdd(sum, mine);
}

// A step of Muon: momentum, then five rounds of Newton-Schulz, X = a X + (b A + c A A) X with A = X X^T, that turn the
// update into a matrix with singular values near one, then the weights. Tiles of 32 x 32, a thread 2 x 2 of them.
#include <cuda_runtime.h>
#define TILE 32

extern "C" __global__ void muon_momentum(const float *__restrict__ grad, float *__restrict__ buffer,
                                         float *__restrict__ x, float *__restrict__ norm2, int n, float beta) {
    __shared__ float warp_sums[8];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float g = grad[i];
        float m = beta * buffer[i] + (1.0f - beta) * g;
        buffer[i] = m;
        float u = g + beta * (m - g);  // Nesterov
        x[i] = u;
        sum += u * u;
    }
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            sum += warp_sums[w];
        atomicAdd(norm2, sum);
    }
}

extern "C" __global__ void muon_normalise(float *__restrict__ x, const float *__restrict__ norm2, int n) {
    float scale = 1.0f / (sqrtf(*norm2) + 1e-7f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] *= scale;
}

// out = alpha * base + beta * left * right, or right^T. left: m x k, out: m x n.
template <bool TRANSPOSED>
__device__ void product(const float *__restrict__ left, const float *__restrict__ right,
                        const float *__restrict__ base, float *__restrict__ out, int m, int n, int k, float alpha,
                        float beta) {
    __shared__ float l[TILE][TILE + 1], r[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float acc[2][2] = {{0.0f}};
    for (int k0 = 0; k0 < k; k0 += TILE) {
        for (int dy = 0; dy < 2; dy++)
            for (int dx = 0; dx < 2; dx++) {
                int y = ty + 16 * dy, x = tx + 16 * dx;
                l[y][x] = row0 + y < m && k0 + x < k ? left[(row0 + y) * k + k0 + x] : 0.0f;
                if (TRANSPOSED)
                    r[x][y] = col0 + y < n && k0 + x < k ? right[(col0 + y) * k + k0 + x] : 0.0f;
                else
                    r[y][x] = k0 + y < k && col0 + x < n ? right[(k0 + y) * n + col0 + x] : 0.0f;
            }
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < TILE; i++)
#pragma unroll
            for (int dy = 0; dy < 2; dy++)
#pragma unroll
                for (int dx = 0; dx < 2; dx++)
                    acc[dy][dx] += l[ty + 16 * dy][i] * r[i][tx + 16 * dx];
        __syncthreads();
    }
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++) {
            int y = row0 + ty + 16 * dy, x = col0 + tx + 16 * dx;
            if (y < m && x < n)
                out[y * n + x] = (base ? alpha * base[y * n + x] : 0.0f) + beta * acc[dy][dx];
        }
}

extern "C" __global__ void muon_gram(const float *x, float *a, int m, int n) {
    product<true>(x, x, nullptr, a, m, m, n, 0.0f, 1.0f);
}

extern "C" __global__ void muon_poly(const float *a, float *b, int m, float cb, float cc) {
    product<false>(a, a, a, b, m, m, m, cb, cc);
}

extern "C" __global__ void muon_update(const float *b, const float *x, float *next, int m, int n, float ca) {
    product<false>(b, x, x, next, m, n, m, ca, 1.0f);
}

extern "C" __global__ void muon_apply(float *__restrict__ weights, const float *__restrict__ x, int n, float lr,
                                      float decay) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        weights[i] = weights[i] * (1.0f - lr * decay) - lr * x[i];
}

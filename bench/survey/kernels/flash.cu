// Attention with an online softmax: a thread for each query, keys and values by tiles in shared memory.
#define D 32
#define TILE 32

extern "C" __global__ void __launch_bounds__(64) flash(const float *__restrict__ Q, const float *__restrict__ K,
                                                       const float *__restrict__ V, float *__restrict__ O, int n,
                                                       float scale) {
    extern __shared__ float shared[];
    float *ks = shared, *vs = shared + TILE * D;
    size_t head = (size_t)blockIdx.y * n * D;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float q[D], acc[D], most = -INFINITY, sum = 0;
#pragma unroll
    for (int d = 0; d < D; d++) {
        q[d] = i < n ? Q[head + (size_t)i * D + d] * scale : 0;
        acc[d] = 0;
    }
    for (int t = 0; t < n; t += TILE) {
        for (int k = threadIdx.x; k < TILE * D; k += blockDim.x) {
            ks[k] = t * D + k < n * D ? K[head + t * D + k] : 0;
            vs[k] = t * D + k < n * D ? V[head + t * D + k] : 0;
        }
        __syncthreads();
        int end = min(TILE, n - t);
        for (int j = 0; j < end; j++) {
            float s = 0;
#pragma unroll
            for (int d = 0; d < D; d++)
                s += q[d] * ks[j * D + d];
            float m = fmaxf(most, s), old = __expf(most - m), p = __expf(s - m);
            sum = sum * old + p;
#pragma unroll
            for (int d = 0; d < D; d++)
                acc[d] = acc[d] * old + p * vs[j * D + d];
            most = m;
        }
        __syncthreads();
    }
    if (i < n)
#pragma unroll
        for (int d = 0; d < D; d++)
            O[head + (size_t)i * D + d] = acc[d] / sum;
}

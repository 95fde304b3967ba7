// New centres of k clusters: atomic sums in shared memory, then global ones.
extern "C" __global__ void kcluster(const float2 *p, const float2 *centre, float *sums, int *counts, int n, int k) {
    __shared__ float sx[32], sy[32];
    __shared__ int c[32];
    if (threadIdx.x < k)
        sx[threadIdx.x] = sy[threadIdx.x] = c[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 v = p[i];
        float best = 3.4e38f;
        int at = 0;
        for (int j = 0; j < k; j++) {
            float dx = v.x - centre[j].x, dy = v.y - centre[j].y, d = dx * dx + dy * dy;
            if (d < best) {
                best = d;
                at = j;
            }
        }
        atomicAdd(&sx[at], v.x);
        atomicAdd(&sy[at], v.y);
        atomicAdd(&c[at], 1);
    }
    __syncthreads();
    if (threadIdx.x < k) {
        atomicAdd(&sums[2 * threadIdx.x], sx[threadIdx.x]);
        atomicAdd(&sums[2 * threadIdx.x + 1], sy[threadIdx.x]);
        atomicAdd(&counts[threadIdx.x], c[threadIdx.x]);
    }
}

// New centroids of points whose clusters are known: each CTA sums coordinates in shared memory by atomics, adds its
// sums to the global ones; then a thread for each coordinate of a centroid divides.
extern "C" __global__ void gather_sums(const float *points, const int *label, float *sums, int *counts, size_t n,
                                       int dims, int k) {
    extern __shared__ float part[];
    int *members = (int *)(part + k * dims);
    for (int i = threadIdx.x; i < k * dims; i += blockDim.x)
        part[i] = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        members[i] = 0;
    __syncthreads();

    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int c = label[i];
        for (int d = 0; d < dims; d++)
            atomicAdd(&part[c * dims + d], points[i * dims + d]);
        atomicAdd(&members[c], 1);
    }
    __syncthreads();

    for (int i = threadIdx.x; i < k * dims; i += blockDim.x)
        atomicAdd(&sums[i], part[i]);
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        atomicAdd(&counts[i], members[i]);
}

extern "C" __global__ void new_centroids(const float *sums, const int *counts, float *centroids, int dims, int k) {
    int c = blockIdx.x, d = threadIdx.x;
    if (c < k && d < dims && counts[c] > 0)
        centroids[c * dims + d] = sums[c * dims + d] / counts[c];
}

// Jaccard's similarity along a graph's edges, with weights of vertices: three extents of a block go over rows, their
// edges, and the shorter list's elements, which are looked for in the longer one; common weights by atomics.
template <typename T>
__device__ int find_in(const T *__restrict__ list, int left, int right, T key) {
    while (left <= right) {
        int middle = (left + right) >> 1;
        T there = list[middle];
        if (there > key)
            right = middle - 1;
        else if (there < key)
            left = middle + 1;
        else
            return middle;
    }
    return -1;
}

// Sums of weights of a row's neighbours, 32 lanes a row.
extern "C" __global__ void jaccard_rows(int n, const int *__restrict__ start, const int *__restrict__ column,
                                        const float *__restrict__ weight, float *__restrict__ work) {
    for (int row = threadIdx.y + blockIdx.y * blockDim.y; row < n; row += gridDim.y * blockDim.y) {
        float sum = 0.0f;
        for (int e = start[row] + threadIdx.x; e < start[row + 1]; e += blockDim.x)
            sum += weight[column[e]];
        for (int offset = 16; offset > 0; offset >>= 1)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (threadIdx.x == 0)
            work[row] = sum;
    }
}

extern "C" __global__ void jaccard_common(int n, const int *__restrict__ start, const int *__restrict__ column,
                                          const float *__restrict__ weight, const float *__restrict__ work,
                                          float *common, float *__restrict__ both) {
    for (int row = threadIdx.z + blockIdx.z * blockDim.z; row < n; row += gridDim.z * blockDim.z) {
        for (int e = start[row] + threadIdx.y + blockIdx.y * blockDim.y; e < start[row + 1];
             e += gridDim.y * blockDim.y) {
            int other = column[e];
            int length = start[row + 1] - start[row], other_length = start[other + 1] - start[other];
            int reference = length < other_length ? row : other;
            int current = length < other_length ? other : row;
            if (threadIdx.x == 0 && blockIdx.x == 0)
                both[e] = work[row] + work[other];
            for (int i = start[reference] + threadIdx.x + blockIdx.x * blockDim.x; i < start[reference + 1];
                 i += gridDim.x * blockDim.x) {
                int key = column[i];
                if (find_in(column, start[current], start[current + 1] - 1, key) >= 0)
                    atomicAdd(&common[e], weight[key]);
            }
        }
    }
}

extern "C" __global__ void jaccard_quotient(int edges, const float *__restrict__ common,
                                            const float *__restrict__ both, float *__restrict__ similarity,
                                            float gamma) {
    for (int e = threadIdx.x + blockIdx.x * blockDim.x; e < edges; e += gridDim.x * blockDim.x) {
        float intersection = common[e];
        float all = both[e] - intersection;
        similarity[e] = all > 0.0f ? gamma * (intersection / all) : 0.0f;
    }
}

// The 32 greatest of each row of 1,024, with their places: a CTA sorts the row in shared memory, bitonically.
#define N 1024
#define K 32

extern "C" __global__ void bitonic_topk(const float *__restrict__ values, float *__restrict__ top,
                                        int *__restrict__ where, int rows) {
    __shared__ float key[N];
    __shared__ int index[N];
    const int row = blockIdx.x;
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        key[i] = values[row * N + i];
        index[i] = i;
    }
    __syncthreads();
    for (int size = 2; size <= N; size <<= 1) {
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            for (int i = threadIdx.x; i < N; i += blockDim.x) {
                int j = i ^ stride;
                if (j > i) {
                    bool descending = (i & size) == 0;
                    bool less = key[i] < key[j] || (key[i] == key[j] && index[i] > index[j]);
                    if (less == descending) {
                        float v = key[i];
                        key[i] = key[j];
                        key[j] = v;
                        int p = index[i];
                        index[i] = index[j];
                        index[j] = p;
                    }
                }
            }
            __syncthreads();
        }
    }
    if (threadIdx.x < K) {
        top[row * K + threadIdx.x] = key[threadIdx.x];
        where[row * K + threadIdx.x] = index[threadIdx.x];
    }
}

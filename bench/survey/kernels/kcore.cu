// Core numbers by peeling: for each k, vertices of k neighbours left go into their block's buffer, whose warps
// take them out again and away from their neighbours, who may follow.
#define WARPS 8

extern "C" __global__ void core_scan(const int *__restrict__ degree, int *buffers, int *tails, int n, int k) {
    __shared__ int tail;
    int *buffer = buffers + (size_t)blockIdx.x * n;
    if (threadIdx.x == 0)
        tail = 0;
    __syncthreads();
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x)
        if (degree[v] == k)
            buffer[atomicAdd(&tail, 1)] = v;
    __syncthreads();
    if (threadIdx.x == 0)
        tails[blockIdx.x] = tail;
}

extern "C" __global__ void core_peel(const int *__restrict__ row_start, const int *__restrict__ neighbours,
                                     int *degree, int *buffers, const int *tails, int *removed, int n, int k) {
    __shared__ int tail, base;
    int *buffer = buffers + (size_t)blockIdx.x * n;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        tail = tails[blockIdx.x];
        base = 0;
    }
    __syncthreads();
    while (true) {
        __syncthreads();
        if (base == tail)
            break;
        int at = base + warp, end = tail;
        __syncthreads();
        if (threadIdx.x == 0)
            base = min(base + WARPS, end);
        if (at >= end)
            continue;
        int v = buffer[at];
        int first = row_start[v], last = row_start[v + 1];
        for (int e = first + lane; e < last; e += 32) {
            int u = neighbours[e];
            if (*(volatile int *)&degree[u] > k) {
                int old = atomicSub(&degree[u], 1);
                if (old == k + 1)
                    buffer[atomicAdd(&tail, 1)] = u;
                else if (old <= k)
                    atomicAdd(&degree[u], 1);
            }
        }
    }
    if (threadIdx.x == 0)
        atomicAdd(&removed[k], tail);
}

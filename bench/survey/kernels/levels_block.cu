// Breadth-first levels of many small graphs (64 vertices each), a CTA a graph, its queue in shared memory.
extern "C" __global__ void levels(const int *__restrict__ ptr, const int *__restrict__ to, int *__restrict__ level, int per) {
    __shared__ int dist[64], queue[2][64], count[2];
    int g = blockIdx.x, t = threadIdx.x;
    const int *p = ptr + g * (per + 1);
    dist[t] = t == 0 ? 0 : -1;
    if (t == 0) {
        queue[0][0] = 0;
        count[0] = 1;
        count[1] = 0;
    }
    __syncthreads();
    for (int d = 1, now = 0; count[now] > 0; d++, now ^= 1) {
        for (int i = t; i < count[now]; i += blockDim.x) {
            int v = queue[now][i];
            for (int e = p[v]; e < p[v + 1]; e++)
                if (atomicCAS(&dist[to[e]], -1, d) == -1)
                    queue[now ^ 1][atomicAdd(&count[now ^ 1], 1)] = to[e];
        }
        __syncthreads();
        if (t == 0)
            count[now] = 0;
        __syncthreads();
    }
    level[g * per + t] = dist[t];
}

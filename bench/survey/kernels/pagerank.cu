extern "C" __global__ void push(const int *__restrict__ off, const int *__restrict__ dst,
                                const float *__restrict__ rank, float *next, int n, float d) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= n)
        return;
    int b = off[u], e = off[u + 1];
    if (b == e)
        return;
    float s = d * rank[u] / (e - b);
    for (int k = b; k < e; k++)
        atomicAdd(&next[dst[k]], s);
}

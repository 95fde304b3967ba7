extern "C" __global__ void hist(const int *d, int *h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&h[d[i]], 1);
}

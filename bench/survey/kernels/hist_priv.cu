extern "C" __global__ void hist(const unsigned char *d, unsigned *out, int n) {
    __shared__ unsigned h[8][256];
    int w = threadIdx.x / 32;
    for (int k = threadIdx.x; k < 2048; k += 256)
        ((unsigned *)h)[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        atomicAdd(&h[w][d[i]], 1u);
    __syncthreads();
    unsigned s = 0;
    for (int k = 0; k < 8; k++)
        s += h[k][threadIdx.x];
    atomicAdd(&out[threadIdx.x], s);
}

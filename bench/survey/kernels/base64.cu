extern "C" __global__ void encode(const unsigned char *a, unsigned char *o, const unsigned char *table, int n) {
    __shared__ unsigned char t[64];
    if (threadIdx.x < 64)
        t[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = a[3 * i] << 16 | a[3 * i + 1] << 8 | a[3 * i + 2];
    o[4 * i] = t[v >> 18];
    o[4 * i + 1] = t[v >> 12 & 63];
    o[4 * i + 2] = t[v >> 6 & 63];
    o[4 * i + 3] = t[v & 63];
}

extern "C" __global__ void k(const int *d, const int *v, int *h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMax(&h[d[i]], v[i]);
}

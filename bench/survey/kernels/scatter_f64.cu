extern "C" __global__ void k(const int *d, const double *v, double *h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&h[d[i]], v[i]);
}

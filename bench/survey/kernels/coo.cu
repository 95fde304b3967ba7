extern "C" __global__ void coo(const int *r, const int *c, const float *v, const float *x, float *y, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nz)
        atomicAdd(&y[r[i]], v[i] * x[c[i]]);
}

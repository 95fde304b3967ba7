extern "C" __global__ void spmv(const int *off, const int *col, const float *val, const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= n)
        return;
    float s = 0;
    for (int k = off[row] + lane; k < off[row + 1]; k += 32)
        s += val[k] * x[col[k]];
    for (int d = 16; d; d /= 2)
        s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0)
        y[row] = s;
}

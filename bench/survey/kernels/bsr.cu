// Block-sparse matrix (4 x 4 blocks) by a vector: sixteen threads a block row, sums by shuffles.
extern "C" __global__ void bsr(const int *__restrict__ ptr, const int *__restrict__ col, const float *__restrict__ val,
                               const float *__restrict__ x, float *__restrict__ y, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / 16, e = t % 16, r = e / 4, c = e % 4;
    float sum = 0;
    if (row < rows)
        for (int k = ptr[row]; k < ptr[row + 1]; k++)
            sum += val[k * 16 + e] * x[col[k] * 4 + c];
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    if (row < rows && c == 0)
        y[row * 4 + r] = sum;
}

// Sums of a row-major matrix: two kernels that do the same work, one of them with contiguous accesses.
// Compiled by nvcc -ptx -arch=compute_75; docs/performance.md compares them.

extern "C" __global__ void row_sums(const float* matrix, float* sums, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int column = 0; column < n; column++)
        sum += matrix[row * n + column];
    sums[row] = sum;
}

extern "C" __global__ void column_sums(const float* matrix, float* sums, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int row = 0; row < n; row++)
        sum += matrix[row * n + column];
    sums[column] = sum;
}

// A sparse matrix times a dense one of 64 columns: a row for each 64 threads.
extern "C" __global__ void spmm(const int *start, const int *column, const float *value, const float *b,
                                float *c, int rows) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, k = threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int j = start[row]; j < start[row + 1]; j++)
        sum += value[j] * b[column[j] * 64 + k];
    c[row * 64 + k] = sum;
}

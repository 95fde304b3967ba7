// The eight greatest of each row, sorted, a thread for each row; values lie by columns.
extern "C" __global__ void topk(const float *values, float *best, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float top[8];
    for (int k = 0; k < 8; k++)
        top[k] = -1e30f;
    for (int c = 0; c < columns; c++) {
        float v = values[c * rows + row];
        if (v > top[7]) {
            int k = 7;
            while (k > 0 && top[k - 1] < v) {
                top[k] = top[k - 1];
                k--;
            }
            top[k] = v;
        }
    }
    for (int k = 0; k < 8; k++)
        best[k * rows + row] = top[k];
}

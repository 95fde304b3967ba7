// Softmax, a thread a row.
extern "C" __global__ void row_softmax(const float *x, float *y, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    float most = -INFINITY, sum = 0.0f;
    for (int j = 0; j < n; j++)
        most = fmaxf(most, x[i * n + j]);
    for (int j = 0; j < n; j++) {
        y[i * n + j] = expf(x[i * n + j] - most);
        sum += y[i * n + j];
    }
    for (int j = 0; j < n; j++)
        y[i * n + j] /= sum;
}

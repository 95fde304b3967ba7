// Tridiagonal systems along rows, a thread for each, solved in place.
extern "C" __global__ void rows(int n, const float *a, float *b, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int j = 1; j < n; j++) {
        x[i * n + j] -= x[i * n + j - 1] * a[i * n + j] / b[i * n + j - 1];
        b[i * n + j] -= a[i * n + j] * a[i * n + j] / b[i * n + j - 1];
    }
    x[i * n + n - 1] /= b[i * n + n - 1];
    for (int j = n - 2; j > 0; j--)
        x[i * n + j] = (x[i * n + j] - x[i * n + j - 1] * a[i * n + j - 1]) / b[i * n + j - 1];
}

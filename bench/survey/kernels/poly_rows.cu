// A polynomial of each number, consecutive numbers for each thread.
extern "C" __global__ void poly_rows(const float *x, float *y, const float *c, int n, int length, int degree) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * length;
    for (int i = first; i < first + length && i < n; i++) {
        float r = c[degree];
        for (int k = degree - 1; k >= 0; k--)
            r = r * x[i] + c[k];
        y[i] = r;
    }
}

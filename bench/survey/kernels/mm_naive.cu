extern "C" __global__ void mm(const float *a, const float *b, float *c, int n) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, q = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n && q < n) {
        float s = 0;
        for (int k = 0; k < n; k++)
            s += a[r * n + k] * b[k * n + q];
        c[r * n + q] = s;
    }
}

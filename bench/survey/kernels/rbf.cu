extern "C" __global__ void rbf(const float *a, const float *b, float *k, int n, int m, int dim, float gamma) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m)
        return;
    float s = 0;
    for (int d = 0; d < dim; d++) {
        float v = a[i * dim + d] - b[j * dim + d];
        s += v * v;
    }
    k[i * m + j] = expf(-gamma * s);
}

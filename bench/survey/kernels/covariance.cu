extern "C" __global__ void mean(const float *d, float *mean, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        float s = 0;
        for (int i = 0; i < n; i++)
            s += d[i * m + j];
        mean[j] = s / n;
    }
}
extern "C" __global__ void centre(float *d, const float *mean, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m)
        d[i * m + j] -= mean[j];
}
extern "C" __global__ void covar(const float *d, float *c, int m, int n) {
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 < m)
        for (int j2 = j1; j2 < m; j2++) {
            float s = 0;
            for (int i = 0; i < n; i++)
                s += d[i * m + j1] * d[i * m + j2];
            c[j1 * m + j2] = s;
            c[j2 * m + j1] = s;
        }
}

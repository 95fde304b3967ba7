extern "C" __global__ void syrk(const float *a, float *c, int n, int m, float alpha, float beta) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n)
        return;
    float s = c[i * n + j] * beta;
    for (int k = 0; k < m; k++)
        s += alpha * a[i * m + k] * a[j * m + k];
    c[i * n + j] = s;
}

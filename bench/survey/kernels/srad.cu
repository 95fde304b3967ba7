extern "C" __global__ void srad(const float *a, float *d, const int *up, const int *down, const int *left, const int *right, int rows, int cols, float q0) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows)
        return;
    float j = a[y * cols + x];
    float n = a[up[y] * cols + x] - j, s = a[down[y] * cols + x] - j, w = a[y * cols + left[x]] - j, e = a[y * cols + right[x]] - j;
    float g = (n * n + s * s + w * w + e * e) / (j * j), l = (n + s + w + e) / j;
    float num = 0.5f * g - 0.0625f * (l * l), den = 1 + 0.25f * l, q = num / (den * den);
    float c = 1.0f / (1.0f + (q - q0) / (q0 * (1 + q0)));
    d[y * cols + x] = c < 0 ? 0 : c > 1 ? 1 : c;
}

// One level of Haar's wavelet: four pixels to an average and three differences.
extern "C" __global__ void haar(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, m = n / 2;
    if (x >= m || y >= m)
        return;
    float a = in[2 * y * n + 2 * x], b = in[2 * y * n + 2 * x + 1];
    float c = in[(2 * y + 1) * n + 2 * x], d = in[(2 * y + 1) * n + 2 * x + 1];
    out[y * n + x] = 0.5f * (a + b + c + d);
    out[y * n + m + x] = 0.5f * (a - b + c - d);
    out[(m + y) * n + x] = 0.5f * (a + b - c - d);
    out[(m + y) * n + m + x] = 0.5f * (a - b - c + d);
}

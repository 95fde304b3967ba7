extern "C" __global__ void nhwc(const float *a, float *b, int n, int c, int hw) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * c * hw)
        return;
    int k = i % c, p = i / c % hw, m = i / (c * hw);
    b[i] = a[(m * c + k) * hw + p];
}

extern "C" __global__ void up(const float *a, float *b, int c, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c * 4 * h * w)
        return;
    int x = i % (2 * w), y = i / (2 * w) % (2 * h), m = i / (4 * h * w);
    b[i] = a[(m * h + y / 2) * w + x / 2];
}

extern "C" __global__ void grey(const unsigned char *rgb, unsigned char *g, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float r = rgb[3 * i], gg = rgb[3 * i + 1], b = rgb[3 * i + 2];
    g[i] = (unsigned char)(0.299f * r + 0.587f * gg + 0.114f * b);
}

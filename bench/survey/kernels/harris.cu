// How much of a corner each pixel is: products of gradients over 3 x 3 pixels, edges repeated.
__device__ float at(const unsigned char *p, int x, int y, int w, int h) {
    return p[min(max(y, 0), h - 1) * w + min(max(x, 0), w - 1)];
}

extern "C" __global__ void harris(const unsigned char *in, float *out, int w, int h, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float xx = 0, yy = 0, xy = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            float dx = at(in, x + i + 1, y + j, w, h) - at(in, x + i - 1, y + j, w, h);
            float dy = at(in, x + i, y + j + 1, w, h) - at(in, x + i, y + j - 1, w, h);
            xx += dx * dx;
            yy += dy * dy;
            xy += dx * dy;
        }
    out[y * w + x] = xx * yy - xy * xy - k * (xx + yy) * (xx + yy);
}

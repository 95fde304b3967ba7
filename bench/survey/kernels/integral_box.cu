// Means over windows by a table of sums.
extern "C" __global__ void integral_box(const unsigned *sums, float *out, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int x0 = max(x - r, 0) - 1, x1 = min(x + r, w - 1), y0 = max(y - r, 0) - 1, y1 = min(y + r, h - 1);
    unsigned a = x0 >= 0 && y0 >= 0 ? sums[y0 * w + x0] : 0;
    unsigned b = y0 >= 0 ? sums[y0 * w + x1] : 0;
    unsigned c = x0 >= 0 ? sums[y1 * w + x0] : 0;
    unsigned d = sums[y1 * w + x1];
    out[y * w + x] = (float)(d - b - c + a) / (float)((x1 - x0) * (y1 - y0));
}

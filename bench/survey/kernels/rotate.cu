extern "C" __global__ void rotate(const float *a, float *b, int w, int h, float c, float s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float u = x - 0.5f * w, v = y - 0.5f * h, px = c * u - s * v + 0.5f * w, py = s * u + c * v + 0.5f * h;
    float fx = floorf(px), fy = floorf(py), dx = px - fx, dy = py - fy;
    int x0 = fx, y0 = fy;
    float r = 0;
    if (x0 >= 0 && y0 >= 0 && x0 < w - 1 && y0 < h - 1) {
        const float *p = a + y0 * w + x0;
        r = (1 - dy) * ((1 - dx) * p[0] + dx * p[1]) + dy * ((1 - dx) * p[w] + dx * p[w + 1]);
    }
    b[y * w + x] = r;
}

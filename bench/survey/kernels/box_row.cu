extern "C" __global__ void box(const float *a, float *b, int w, int h, int r) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h)
        return;
    const float *p = a + y * w;
    float *q = b + y * w, s = p[0] * r, scale = 1.0f / (2 * r + 1);
    for (int x = 0; x <= r; x++)
        s += p[x];
    q[0] = s * scale;
    for (int x = 1; x < w; x++) {
        s += p[min(x + r, w - 1)] - p[max(x - r - 1, 0)];
        q[x] = s * scale;
    }
}

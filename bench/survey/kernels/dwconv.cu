extern "C" __global__ void dw(const float *a, const float *k, float *b, int h, int w, int c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= h * w * c)
        return;
    int m = i % c, x = i / c % w, y = i / (c * w);
    float s = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (y + dy >= 0 && y + dy < h && x + dx >= 0 && x + dx < w)
                s += a[((y + dy) * w + x + dx) * c + m] * k[((dy + 1) * 3 + dx + 1) * c + m];
    b[i] = s;
}

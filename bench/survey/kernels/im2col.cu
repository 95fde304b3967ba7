extern "C" __global__ void im2col(const float *a, float *b, int c, int h, int w, int k, int pad) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c * h * w)
        return;
    int x = i % w, y = i / w % h, m = i / (w * h);
    float *q = b + (m * k * k * h + y) * w + x;
    const float *p = a + (m * h + y - pad) * w + x - pad;
    for (int dy = 0; dy < k; dy++)
        for (int dx = 0; dx < k; dx++) {
            int yy = y - pad + dy, xx = x - pad + dx;
            *q = yy >= 0 && xx >= 0 && yy < h && xx < w ? p[dy * w + dx] : 0;
            q += h * w;
        }
}

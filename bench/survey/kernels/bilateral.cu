extern "C" __global__ void bil(const float *__restrict__ in, float *__restrict__ out, int w, int h, float is,
                               float ir) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float c = in[y * w + x], s = 0, t = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int xx = min(max(x + dx, 0), w - 1), yy = min(max(y + dy, 0), h - 1);
            float v = in[yy * w + xx], d = v - c;
            float k = __expf(-(dx * dx + dy * dy) * is - d * d * ir);
            s += k * v;
            t += k;
        }
    out[y * w + x] = s / t;
}

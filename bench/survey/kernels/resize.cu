extern "C" __global__ void rs(const unsigned char *s, unsigned char *d, int sw, int sh, int dw, int dh,
                              float fx, float fy) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dw || y >= dh)
        return;
    float u = (x + 0.5f) * fx - 0.5f, v = (y + 0.5f) * fy - 0.5f;
    u = fmaxf(u, 0.f);
    v = fmaxf(v, 0.f);
    int x0 = (int)u, y0 = (int)v;
    float a = u - x0, b = v - y0;
    int x1 = min(x0 + 1, sw - 1), y1 = min(y0 + 1, sh - 1);
    float p = s[y0 * sw + x0] * (1 - a) + s[y0 * sw + x1] * a,
          q = s[y1 * sw + x0] * (1 - a) + s[y1 * sw + x1] * a;
    d[y * dw + x] = (unsigned char)(p * (1 - b) + q * b + 0.5f);
}

// Red, green and blue to hue, saturation and value, 8 bits each, as OpenCV has them.
extern "C" __global__ void hsv(const uchar3 *in, uchar3 *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    uchar3 p = in[y * w + x];
    int v = max(p.x, max(p.y, p.z)), low = min(p.x, min(p.y, p.z)), d = v - low;
    float s = v == 0 ? 0.0f : 255.0f * d / v, a;
    if (d == 0)
        a = 0.0f;
    else if (v == p.x)
        a = 60.0f * (p.y - p.z) / d;
    else if (v == p.y)
        a = 120.0f + 60.0f * (p.z - p.x) / d;
    else
        a = 240.0f + 60.0f * (p.x - p.y) / d;
    if (a < 0.0f)
        a += 360.0f;
    out[y * w + x] = make_uchar3((unsigned char)(a / 2.0f), (unsigned char)s, (unsigned char)v);
}

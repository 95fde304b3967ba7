__device__ unsigned char clip(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }
extern "C" __global__ void rgb(const unsigned char *y, const unsigned char *u, const unsigned char *v, uchar4 *o, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= w || j >= h)
        return;
    int c = (y[j * w + i] - 16) * 298, d = u[j / 2 * (w / 2) + i / 2] - 128, e = v[j / 2 * (w / 2) + i / 2] - 128;
    o[j * w + i] = make_uchar4(clip((c + 409 * e + 128) >> 8), clip((c - 100 * d - 208 * e + 128) >> 8), clip((c + 516 * d + 128) >> 8), 255);
}

// Pictures of four bytes a pixel under a kernel of 3 x 3 numbers; outside is black, alpha stays.
__device__ unsigned char to_byte(float v) { return (unsigned char)(fminf(fmaxf(v, 0.0f), 255.0f) + 0.5f); }

extern "C" __global__ void conv_rgba(const uchar4 *in, const float *kernel, uchar4 *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    size_t picture = (size_t)blockIdx.z * w * h;
    float r = 0.0f, g = 0.0f, b = 0.0f;
    for (int ky = -1; ky <= 1; ky++) {
        for (int kx = -1; kx <= 1; kx++) {
            int sx = x + kx, sy = y + ky;
            if (sx >= 0 && sx < w && sy >= 0 && sy < h) {
                uchar4 p = in[picture + (size_t)sy * w + sx];
                float f = kernel[(ky + 1) * 3 + kx + 1];
                r += p.x * f;
                g += p.y * f;
                b += p.z * f;
            }
        }
    }
    size_t i = picture + (size_t)y * w + x;
    out[i] = make_uchar4(to_byte(r), to_byte(g), to_byte(b), in[i].w);
}

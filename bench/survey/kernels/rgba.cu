// Contrast and saturation of pixels of four bytes.
__device__ unsigned char byte(float v) { return (unsigned char)__float2int_rn(fminf(fmaxf(v, 0.0f), 255.0f)); }

extern "C" __global__ void adjust(const uchar4 *__restrict__ in, uchar4 *__restrict__ out, float contrast,
                                  float saturation, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uchar4 p = in[i];
    float r = (p.x - 128.0f) * contrast + 128.0f, g = (p.y - 128.0f) * contrast + 128.0f;
    float b = (p.z - 128.0f) * contrast + 128.0f, grey = 0.299f * r + 0.587f * g + 0.114f * b;
    out[i] = make_uchar4(byte(grey + saturation * (r - grey)), byte(grey + saturation * (g - grey)),
                         byte(grey + saturation * (b - grey)), p.w);
}

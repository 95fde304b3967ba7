// A recursive filter down each column of a picture, and up again.
extern "C" __global__ void iir(const float *in, float *out, int w, int h, float a, float b) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w)
        return;
    float y = in[x];
    for (int k = 0; k < h; k++) {
        y = a * in[k * w + x] + b * y;
        out[k * w + x] = y;
    }
    y = out[(h - 1) * w + x];
    for (int k = h - 1; k >= 0; k--) {
        y = a * out[k * w + x] + b * y;
        out[k * w + x] = y;
    }
}

// A filter of 5 x 5 with bounds tested for each tap, in loops that compilers write out.
extern "C" __global__ void conv5_unrolled(const float *in, const float *f, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float sum = 0;
#pragma unroll
    for (int j = -2; j <= 2; j++)
#pragma unroll
        for (int i = -2; i <= 2; i++) {
            int yy = y + j, xx = x + i;
            if (xx >= 0 && xx < w && yy >= 0 && yy < h)
                sum += in[yy * w + xx] * f[(j + 2) * 5 + i + 2];
        }
    out[y * w + x] = sum;
}

// NCHW, C=16 -> K=16, 3x3, pad 1
extern "C" __global__ void conv(const float *__restrict__ in, const float *__restrict__ wt,
                                float *__restrict__ out, int C, int H, int W) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (x >= W || y >= H)
        return;
    float s = 0;
    for (int c = 0; c < C; c++)
        for (int r = -1; r <= 1; r++)
            for (int q = -1; q <= 1; q++) {
                int yy = y + r, xx = x + q;
                if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                    s += in[(c * H + yy) * W + xx] * wt[(k * C + c) * 9 + (r + 1) * 3 + q + 1];
            }
    out[(k * H + y) * W + x] = s;
}

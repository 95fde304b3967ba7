// The largest of windows of a picture with padding, and where it is (3 x 3, every second one).
extern "C" __global__ void maxpool_pad(const float *x, float *y, int *where, int planes, int h, int w, int oh, int ow) {
    int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y, p = blockIdx.z;
    if (ox >= ow || oy >= oh)
        return;
    float most = -3.402823466e38f;
    int best = -1;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int iy = oy * 2 - 1 + i, ix = ox * 2 - 1 + j;
            if (iy >= 0 && iy < h && ix >= 0 && ix < w) {
                float v = x[(p * h + iy) * w + ix];
                if (v > most) {
                    most = v;
                    best = iy * w + ix;
                }
            }
        }
    y[(p * oh + oy) * ow + ox] = most;
    where[(p * oh + oy) * ow + ox] = best;
}

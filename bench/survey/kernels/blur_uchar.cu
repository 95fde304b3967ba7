extern "C" __global__ void blur(const unsigned char *__restrict__ in, unsigned char *__restrict__ out, int w,
                                int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int s = 0, c = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx >= 0 && xx < w && yy >= 0 && yy < h) {
                s += in[yy * w + xx];
                c++;
            }
        }
    out[y * w + x] = s / c;
}

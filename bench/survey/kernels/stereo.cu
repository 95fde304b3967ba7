extern "C" __global__ void sad(const unsigned char *l, const unsigned char *r, unsigned char *d, int w, int h, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < most + 2 || y < 2 || x >= w - 2 || y >= h - 2)
        return;
    int best = 1 << 30, at = 0;
    for (int k = 0; k < most; k++) {
        int s = 0;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++)
                s += abs(l[(y + dy) * w + x + dx] - r[(y + dy) * w + x + dx - k]);
        if (s < best) {
            best = s;
            at = k;
        }
    }
    d[y * w + x] = at;
}

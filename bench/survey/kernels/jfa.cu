extern "C" __global__ void jump(const int2 *a, int2 *b, int w, int h, int step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int2 best = a[y * w + x];
    int d = best.x < 0 ? 1 << 30 : (best.x - x) * (best.x - x) + (best.y - y) * (best.y - y);
    for (int dy = -step; dy <= step; dy += step)
        for (int dx = -step; dx <= step; dx += step) {
            int xx = x + dx, yy = y + dy;
            if (xx < 0 || yy < 0 || xx >= w || yy >= h)
                continue;
            int2 s = a[yy * w + xx];
            int e = (s.x - x) * (s.x - x) + (s.y - y) * (s.y - y);
            if (s.x >= 0 && e < d) {
                d = e;
                best = s;
            }
        }
    b[y * w + x] = best;
}

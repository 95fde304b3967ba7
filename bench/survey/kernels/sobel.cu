extern "C" __global__ void sobel(const unsigned char *s, unsigned char *d, int w, int h) {
    __shared__ unsigned char t[10][36];
    int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1, id = threadIdx.y * 32 + threadIdx.x;
    for (int k = id; k < 340; k += 256) {
        int ty = k / 34, tx = k % 34;
        int gx = min(max(x0 + tx, 0), w - 1), gy = min(max(y0 + ty, 0), h - 1);
        t[ty][tx] = s[gy * w + gx];
    }
    __syncthreads();
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = x0 + tx, y = y0 + ty;
    if (x >= w || y >= h)
        return;
    int gx = t[ty - 1][tx + 1] + 2 * t[ty][tx + 1] + t[ty + 1][tx + 1] - t[ty - 1][tx - 1] -
             2 * t[ty][tx - 1] - t[ty + 1][tx - 1];
    int gy = t[ty + 1][tx - 1] + 2 * t[ty + 1][tx] + t[ty + 1][tx + 1] - t[ty - 1][tx - 1] -
             2 * t[ty - 1][tx] - t[ty - 1][tx + 1];
    int m = abs(gx) + abs(gy);
    d[y * w + x] = m > 255 ? 255 : m;
}

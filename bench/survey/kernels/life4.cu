extern "C" __global__ void life(const uchar4 *a, uchar4 *b, int w4, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w4 || y >= h)
        return;
    const unsigned char *p = (const unsigned char *)a;
    int w = w4 * 4;
    int yu = (y ? y - 1 : h - 1), yd = (y < h - 1 ? y + 1 : 0);
    int c[6] = {0, 0, 0, 0, 0, 0};
    unsigned char mid[4];
    int rows[3] = {yu, y, yd};
    for (int r = 0; r < 3; r++) {
        uchar4 v = a[rows[r] * w4 + x];
        c[1] += v.x;
        c[2] += v.y;
        c[3] += v.z;
        c[4] += v.w;
        c[0] += p[rows[r] * w + (x ? 4 * x - 1 : w - 1)];
        c[5] += p[rows[r] * w + (x < w4 - 1 ? 4 * x + 4 : 0)];
        if (r == 1) {
            mid[0] = v.x;
            mid[1] = v.y;
            mid[2] = v.z;
            mid[3] = v.w;
        }
    }
    uchar4 o;
    unsigned char q[4];
    for (int k = 0; k < 4; k++) {
        int s = c[k] + c[k + 1] + c[k + 2] - mid[k];
        q[k] = s == 3 || (s == 2 && mid[k]);
    }
    o = make_uchar4(q[0], q[1], q[2], q[3]);
    b[y * w4 + x] = o;
}

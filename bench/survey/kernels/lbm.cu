extern "C" __global__ void lbm(const float *__restrict__ f, float *__restrict__ g, int w, int h, float om) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int n = w * h;
    int xm = x == 0 ? w - 1 : x - 1, xp = x == w - 1 ? 0 : x + 1, ym = (y == 0 ? h - 1 : y - 1) * w,
        yp = (y == h - 1 ? 0 : y + 1) * w, yc = y * w;
    float f0 = f[yc + x], f1 = f[n + yc + xm], f2 = f[2 * n + ym + x], f3 = f[3 * n + yc + xp],
          f4 = f[4 * n + yp + x], f5 = f[5 * n + ym + xm], f6 = f[6 * n + ym + xp], f7 = f[7 * n + yp + xp],
          f8 = f[8 * n + yp + xm];
    float r = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8, ir = 1.0f / r,
          u = (f1 - f3 + f5 - f6 - f7 + f8) * ir, v = (f2 - f4 + f5 + f6 - f7 - f8) * ir,
          q = 1 - 1.5f * (u * u + v * v);
    int i = yc + x;
#define EQ(k, wt, cu, fk)                                                                                    \
    {                                                                                                        \
        float c = (cu);                                                                                      \
        g[(k) * n + i] = fk + om * (wt * r * (q + 3 * c + 4.5f * c * c) - fk);                               \
    }
    EQ(0, 4.0f / 9, 0, f0);
    EQ(1, 1.0f / 9, u, f1);
    EQ(2, 1.0f / 9, v, f2);
    EQ(3, 1.0f / 9, -u, f3);
    EQ(4, 1.0f / 9, -v, f4);
    EQ(5, 1.0f / 36, u + v, f5);
    EQ(6, 1.0f / 36, v - u, f6);
    EQ(7, 1.0f / 36, -u - v, f7);
    EQ(8, 1.0f / 36, u - v, f8);
}

extern "C" __global__ void sobel(const unsigned char *__restrict__ s, unsigned char *__restrict__ d, int w,
                                 int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    const unsigned char *u = s + (y - 1) * w + x, *c = u + w, *b = c + w;
    int gx = u[1] + 2 * c[1] + b[1] - u[-1] - 2 * c[-1] - b[-1],
        gy = b[-1] + 2 * b[0] + b[1] - u[-1] - 2 * u[0] - u[1];
    float m = sqrtf((float)(gx * gx + gy * gy));
    d[y * w + x] = (unsigned char)fminf(m, 255.f);
}

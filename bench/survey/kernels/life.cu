extern "C" __global__ void life(const unsigned char *a, unsigned char *b, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int xl = (x + w - 1) % w, xr = (x + 1) % w, yu = ((y + h - 1) % h) * w, yd = ((y + 1) % h) * w,
        yc = y * w;
    int s =
        a[yu + xl] + a[yu + x] + a[yu + xr] + a[yc + xl] + a[yc + xr] + a[yd + xl] + a[yd + x] + a[yd + xr];
    b[yc + x] = s == 3 || (s == 2 && a[yc + x]);
}

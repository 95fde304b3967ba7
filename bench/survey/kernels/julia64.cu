extern "C" __global__ void julia(int *o, int w, int h, double cr, double ci, int lim) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    double a = 3.0 * x / w - 1.5, b = 2.0 * y / h - 1;
    int k = 0;
    while (k < lim && a * a + b * b < 4) {
        double t = a * a - b * b + cr;
        b = 2 * a * b + ci;
        a = t;
        k++;
    }
    o[y * w + x] = k;
}

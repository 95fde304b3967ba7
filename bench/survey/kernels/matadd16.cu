extern "C" __global__ void add(const float *a, const float *b, float *c, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        c[y * w + x] = a[y * w + x] + b[y * w + x];
}

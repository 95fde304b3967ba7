// Prefix sums of a matrix's rows, in place, a thread a row: one half of an integral image.
extern "C" __global__ void row_scan(unsigned *a, int w, int h) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < h)
        for (int x = 1; x < w; x++)
            a[y * w + x] += a[y * w + x - 1];
}

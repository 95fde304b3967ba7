// Escape times of the Mandelbrot set: neighbouring lanes leave the loop at different times.
// Compiled without contraction to fused multiply-adds, so that NumPy can give the same bits.
template <typename T>
__device__ int escape_time(T cx, T cy, int limit)
{
    T x = 0, y = 0;
    int n = 0;
    while (n < limit) {
        T xx = x * x, yy = y * y;
        if (xx + yy > T(4))
            break;
        y = T(2) * x * y + cy;
        x = xx - yy + cx;
        ++n;
    }
    return n;
}

extern "C" __global__ void mandelbrot(int *times, int width, int height, float left, float top, float step, int limit)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height)
        times[row * width + column] = escape_time(left + column * step, top - row * step, limit);
}

extern "C" __global__ void mandelbrot_f64(int *times, int width, int height, double left, double top, double step,
                                          int limit)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height)
        times[row * width + column] = escape_time(left + column * step, top - row * step, limit);
}

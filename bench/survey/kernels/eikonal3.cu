// Times of first arrival in space from a source, |grad T| = slowness, by fast sweeping: eight directions in turn, in
// each of which the cells with one sum of indices are a launch.
#define INF 1e30

__device__ inline void swap(double &a, double &b) {
    double t = a;
    a = b;
    b = t;
}

__device__ double solve_cell(double a, double b, double c, double fh) {
    if (a > b)
        swap(a, b);
    if (b > c)
        swap(b, c);
    if (a > b)
        swap(a, b);
    double t = a + fh;
    if (t <= b)
        return t;
    t = 0.5 * (a + b + sqrt(2.0 * fh * fh - (a - b) * (a - b)));
    if (t <= c)
        return t;
    double sum = a + b + c;
    double squares = a * a + b * b + c * c;
    return (sum + sqrt(fmax(sum * sum - 3.0 * (squares - fh * fh), 0.0))) / 3.0;
}

extern "C" __global__ void sweep_level(double *time, const float *slowness, int nx, int ny, int nz, double h,
                                       int level, int first_x, int first_y, int flip_x, int flip_y, int flip_z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + first_x;
    int j = blockIdx.y * blockDim.y + threadIdx.y + first_y;
    int k = level - i - j;
    if (i >= nx || j >= ny || k < 0 || k >= nz)
        return;
    int x = flip_x ? nx - 1 - i : i;
    int y = flip_y ? ny - 1 - j : j;
    int z = flip_z ? nz - 1 - k : k;
    int stride = nx * ny, at = z * stride + y * nx + x;
    double left = x > 0 ? time[at - 1] : INF, right = x < nx - 1 ? time[at + 1] : INF;
    double front = y > 0 ? time[at - nx] : INF, back = y < ny - 1 ? time[at + nx] : INF;
    double below = z > 0 ? time[at - stride] : INF, above = z < nz - 1 ? time[at + stride] : INF;
    double t = solve_cell(fmin(left, right), fmin(front, back), fmin(below, above), slowness[at] * h);
    if (t < time[at])
        time[at] = t;
}

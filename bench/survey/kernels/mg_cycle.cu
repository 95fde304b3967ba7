// The launches of a multigrid cycle for Poisson's equation on a square, in double: red and black points, what is left,
// to the coarser grid and back.
extern "C" __global__ void smooth_color(double *u, const double *f, int n, double h2, int color) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1 || (x + y) % 2 != color)
        return;
    int i = y * n + x;
    u[i] = 0.25 * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + h2 * f[i]);
}

extern "C" __global__ void residual(const double *u, const double *f, double *r, int n, double h2) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    int i = y * n + x;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1)
        r[i] = 0.0;
    else
        r[i] = f[i] - (4.0 * u[i] - u[i - 1] - u[i + 1] - u[i - n] - u[i + n]) / h2;
}

// Full weighting; the coarse solution begins at zero.
extern "C" __global__ void restrict_residual(const double *r, double *f_coarse, double *u_coarse, int n_coarse) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n_coarse || y >= n_coarse)
        return;
    int n = 2 * n_coarse - 1;
    int i = 2 * y * n + 2 * x;
    double sum = 0.0;
    if (x > 0 && y > 0 && x < n_coarse - 1 && y < n_coarse - 1)
        sum = 0.25 * r[i] + 0.125 * (r[i - 1] + r[i + 1] + r[i - n] + r[i + n]) +
              0.0625 * (r[i - n - 1] + r[i - n + 1] + r[i + n - 1] + r[i + n + 1]);
    f_coarse[y * n_coarse + x] = sum;
    u_coarse[y * n_coarse + x] = 0.0;
}

extern "C" __global__ void prolong_add(const double *u_coarse, double *u, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    int n_coarse = (n + 1) / 2;
    const double *c = u_coarse + (y / 2) * n_coarse + x / 2;
    double e;
    if (x % 2 == 0 && y % 2 == 0)
        e = c[0];
    else if (y % 2 == 0)
        e = 0.5 * (c[0] + c[1]);
    else if (x % 2 == 0)
        e = 0.5 * (c[0] + c[n_coarse]);
    else
        e = 0.25 * (c[0] + c[1] + c[n_coarse] + c[n_coarse + 1]);
    u[y * n + x] += e;
}

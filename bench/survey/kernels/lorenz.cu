__device__ double3 f(double3 p) { return make_double3(10 * (p.y - p.x), p.x * (28 - p.z) - p.y, p.x * p.y - 8.0 / 3 * p.z); }
__device__ double3 step(double3 p, double3 d, double h) { return make_double3(p.x + h * d.x, p.y + h * d.y, p.z + h * d.z); }
extern "C" __global__ void rk4(double *x, double *y, double *z, int n, int steps, double h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double3 p = make_double3(x[i], y[i], z[i]);
    for (int s = 0; s < steps; s++) {
        double3 a = f(p), b = f(step(p, a, h / 2)), c = f(step(p, b, h / 2)), d = f(step(p, c, h));
        p.x += h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x);
        p.y += h / 6 * (a.y + 2 * b.y + 2 * c.y + d.y);
        p.z += h / 6 * (a.z + 2 * b.z + 2 * c.z + d.z);
    }
    x[i] = p.x;
    y[i] = p.y;
    z[i] = p.z;
}

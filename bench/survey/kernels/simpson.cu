// Adaptive quadrature by Simpson's rule, which calls itself for both halves: an integral for each thread.
__device__ double integrand(double x, double centre, double width) {
    double d = (x - centre) / width;
    return sqrt(x + 1.0) / (1.0 + d * d);
}

__device__ __noinline__ double adaptive(double a, double b, double fa, double fm, double fb, double whole, double eps,
                                        int depth, double centre, double width, int *evaluations) {
    double m = 0.5 * (a + b), h = b - a;
    double flm = integrand(0.5 * (a + m), centre, width);
    double frm = integrand(0.5 * (m + b), centre, width);
    *evaluations += 2;
    double left = h / 12.0 * (fa + 4.0 * flm + fm);
    double right = h / 12.0 * (fm + 4.0 * frm + fb);
    double delta = left + right - whole;
    if (depth <= 0 || fabs(delta) <= 15.0 * eps)
        return left + right + delta / 15.0;
    return adaptive(a, m, fa, flm, fm, left, 0.5 * eps, depth - 1, centre, width, evaluations) +
           adaptive(m, b, fm, frm, fb, right, 0.5 * eps, depth - 1, centre, width, evaluations);
}

extern "C" __global__ void simpson(const double *__restrict__ centre, const double *__restrict__ width,
                                   double *integral, int *evaluations, int n, double a, double b, double eps,
                                   int max_depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double c = centre[i], w = width[i];
    double fa = integrand(a, c, w), fb = integrand(b, c, w), fm = integrand(0.5 * (a + b), c, w);
    int count = 3;
    integral[i] = adaptive(a, b, fa, fm, fb, (b - a) / 6.0 * (fa + 4.0 * fm + fb), eps, max_depth, c, w, &count);
    evaluations[i] = count;
}

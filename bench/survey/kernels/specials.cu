// A likelihood with double-precision special functions: erf, lgamma, pow, and the sine of a large phase.
extern "C" __global__ void specials(const double *__restrict__ x, const double *__restrict__ shape,
                                    const double *__restrict__ phase, double *__restrict__ out, int n, double mu,
                                    double sigma, double exponent) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double z = (x[i] - mu) / (sigma * sqrt(2.0));
    double below = 0.5 * (1.0 + erf(z));
    double power = pow(1.0 + x[i] * x[i], exponent * shape[i]);
    out[i] = below * power + lgamma(shape[i] + 0.5) + 0.25 * sin(phase[i]);
}

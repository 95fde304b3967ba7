// European options by Black and Scholes in double precision, calls and puts mixed: prices and five Greeks.
struct Option {
    double spot, strike, maturity, volatility;
};

struct Greeks {
    double *__restrict__ price;
    double *__restrict__ delta;
    double *__restrict__ gamma;
    double *__restrict__ vega;
    double *__restrict__ theta;
    double *__restrict__ rho;
};

__device__ __forceinline__ double pdf(double x) {
    return 0.39894228040143267794 * exp(-0.5 * x * x);
}

__device__ __forceinline__ double cdf(double x) {
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

template <bool CALL>
__device__ void evaluate(const Option &o, double r, double q, const Greeks &g, int i) {
    const double sign = CALL ? 1.0 : -1.0;
    double root = sqrt(o.maturity), sd = o.volatility * root;
    double d1 = (log(o.spot / o.strike) + (r - q + 0.5 * o.volatility * o.volatility) * o.maturity) / sd;
    double d2 = d1 - sd;
    double dr = exp(-r * o.maturity), dq = exp(-q * o.maturity);
    double n1 = cdf(sign * d1), n2 = cdf(sign * d2), density = pdf(d1);
    double forward = o.spot * dq, discounted = o.strike * dr;
    g.price[i] = sign * (forward * n1 - discounted * n2);
    g.delta[i] = sign * dq * n1;
    g.gamma[i] = dq * density / (o.spot * sd);
    g.vega[i] = forward * density * root;
    g.theta[i] = -forward * density * o.volatility / (2.0 * root) + sign * (q * forward * n1 - r * discounted * n2);
    g.rho[i] = sign * o.maturity * discounted * n2;
}

extern "C" __global__ void bs_greeks(const Option *__restrict__ options, const unsigned char *__restrict__ is_call,
                                     double *price, double *delta, double *gamma, double *vega, double *theta,
                                     double *rho, int n, double r, double q) {
    Greeks g = {price, delta, gamma, vega, theta, rho};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Option o = options[i];
        if (is_call[i])
            evaluate<true>(o, r, q, g, i);
        else
            evaluate<false>(o, r, q, g, i);
    }
}

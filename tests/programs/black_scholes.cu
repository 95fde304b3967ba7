// European call and put prices by the Black-Scholes formula, in single and in double precision.
template <typename T> __device__ T normal_cdf(T x);
template <> __device__ float normal_cdf(float x) { return 0.5f * erfcf(x * -0.70710678118654752440f); }
template <> __device__ double normal_cdf(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }

template <typename T>
__device__ void price(const T *spot, const T *strike, const T *years, T *call, T *put, T rate, T volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    T s = spot[i], k = strike[i], t = years[i];
    T root = volatility * sqrt(t);
    T d1 = (log(s / k) + (rate + T(0.5) * volatility * volatility) * t) / root;
    T d2 = d1 - root;
    T discounted = k * exp(-rate * t);
    call[i] = s * normal_cdf(d1) - discounted * normal_cdf(d2);
    put[i] = discounted * normal_cdf(-d2) - s * normal_cdf(-d1);
}

extern "C" __global__ void black_scholes_f32(const float *spot, const float *strike, const float *years, float *call,
                                             float *put, float rate, float volatility, int n)
{
    price(spot, strike, years, call, put, rate, volatility, n);
}

extern "C" __global__ void black_scholes_f64(const double *spot, const double *strike, const double *years,
                                             double *call, double *put, double rate, double volatility, int n)
{
    price(spot, strike, years, call, put, rate, volatility, n);
}

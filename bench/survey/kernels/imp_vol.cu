// Implied volatilities of a surface of options by Newton's method, by halving where that leaves the bracket; then a
// smile of second degree for each expiry by least squares, a warp each.
struct Quote {
    double strike, price;
    int expiry;
    char kind;  // 'C' or 'P'
};

struct Expiry {
    double years, forward, discount;
};

enum Status { CONVERGED = 0, BELOW_INTRINSIC = 1, ABOVE_LIMIT = 2, TOO_LONG = 3 };

__device__ double normal_cdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

__device__ double black(double f, double k, double t, double vol, bool call, double *vega) {
    const double root = vol * sqrt(t);
    const double d1 = log(f / k) / root + 0.5 * root, d2 = d1 - root;
    *vega = f * sqrt(t) * 0.39894228040143267794 * exp(-0.5 * d1 * d1);
    return call ? f * normal_cdf(d1) - k * normal_cdf(d2) : k * normal_cdf(-d2) - f * normal_cdf(-d1);
}

extern "C" __global__ void implied(const Quote *__restrict__ quotes, const Expiry *__restrict__ expiries,
                                   double *__restrict__ vols, int *__restrict__ status, int n, int max_iterations) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Quote q = quotes[i];
    const Expiry e = expiries[q.expiry];
    const double target = q.price / e.discount, f = e.forward, k = q.strike;
    const bool call = q.kind == 'C';
    vols[i] = 0.0;
    if (target <= fmax(call ? f - k : k - f, 0.0)) {
        status[i] = BELOW_INTRINSIC;
        return;
    }
    if (target >= (call ? f : k)) {
        status[i] = ABOVE_LIMIT;
        return;
    }
    double low = 1e-4, high = 5.0;
    double vol = sqrt(2.0 * fabs(log(f / k)) / e.years);  // where the price bends
    vol = fmin(fmax(vol, 0.05), 2.0);
    for (int iteration = 0; iteration < max_iterations; iteration++) {
        double vega;
        const double error = black(f, k, e.years, vol, call, &vega) - target;
        if (fabs(error) < 1e-10 * f) {
            vols[i] = vol;
            status[i] = CONVERGED;
            return;
        }
        if (error > 0.0)
            high = vol;
        else
            low = vol;
        double next = vol - error / vega;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        vol = next;
    }
    vols[i] = vol;
    status[i] = TOO_LONG;
}

__device__ double warp_sum(double v) {
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, offset);
    return v;
}

extern "C" __global__ void smile(const Quote *__restrict__ quotes, const Expiry *__restrict__ expiries,
                                 const int *__restrict__ first, const double *__restrict__ vols,
                                 const int *__restrict__ status, double *__restrict__ fits, int count) {
    const int expiry = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (expiry >= count)
        return;
    const double forward = expiries[expiry].forward, years = expiries[expiry].years;
    double moment[5] = {0, 0, 0, 0, 0}, right[3] = {0, 0, 0};
    for (int i = first[expiry] + lane; i < first[expiry + 1]; i += 32) {
        if (status[i] != CONVERGED)
            continue;
        const double x = log(quotes[i].strike / forward) / sqrt(years);
        double power = exp(-x * x);
        for (int k = 0; k < 5; k++) {
            moment[k] += power;
            if (k < 3)
                right[k] += power * vols[i];
            power *= x;
        }
    }
    for (int k = 0; k < 5; k++)
        moment[k] = warp_sum(moment[k]);
    for (int k = 0; k < 3; k++)
        right[k] = warp_sum(right[k]);
    if (lane != 0)
        return;
    double a[3][4];
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            a[r][c] = moment[r + c];
        a[r][3] = right[r];
    }
    for (int p = 0; p < 3; p++) {
        int best = p;
        for (int r = p + 1; r < 3; r++)
            if (fabs(a[r][p]) > fabs(a[best][p]))
                best = r;
        for (int c = 0; c < 4; c++) {
            const double t = a[p][c];
            a[p][c] = a[best][c];
            a[best][c] = t;
        }
        for (int r = 0; r < 3; r++) {
            if (r == p)
                continue;
            const double factor = a[r][p] / a[p][p];
            for (int c = p; c < 4; c++)
                a[r][c] -= factor * a[p][c];
        }
    }
    for (int r = 0; r < 3; r++)
        fits[expiry * 3 + r] = a[r][3] / a[r][r];
}

// Callable bonds in Hull and White's trinomial tree: a block for each bond, a thread for each node of a level. Forward:
// prices of states and the drifts that fit the curve; backward: the bond, called where that is cheaper.
#define THREADS 128
#define MAX_STEPS 256

struct Bond {
    double maturity, coupon, call_price, first_call;
};

struct Branch {
    int middle;
    double up, mid, down;
};

__device__ __forceinline__ Branch branch_of(int j, int jmax, double m) {
    const double a = j * m, aa = a * a;
    Branch b;
    if (j == jmax) {
        b = {j - 1, 7.0 / 6 + (aa - 3 * a) / 2, -1.0 / 3 - aa + 2 * a, 1.0 / 6 + (aa - a) / 2};
    } else if (j == -jmax) {
        b = {j + 1, 1.0 / 6 + (aa + a) / 2, -1.0 / 3 - aa - 2 * a, 7.0 / 6 + (aa + 3 * a) / 2};
    } else {
        b = {j, 1.0 / 6 + (aa - a) / 2, 2.0 / 3 - aa, 1.0 / 6 + (aa + a) / 2};
    }
    return b;
}

__device__ double block_sum(double v, double *scratch) {
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    if ((threadIdx.x & 31) == 0)
        scratch[threadIdx.x >> 5] = v;
    __syncthreads();
    double sum = scratch[0] + scratch[1] + scratch[2] + scratch[3];
    __syncthreads();
    return sum;
}

__device__ double discount(double t, const double *__restrict__ zero_rates, int knots) {
    double at = t * 2;  // a rate every half year
    int k = min((int)at, knots - 2);
    double r = zero_rates[k] + (zero_rates[k + 1] - zero_rates[k]) * (at - k);
    return exp(-r * t);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    hw_tree(const Bond *__restrict__ bonds, const double *__restrict__ zero_rates, double *__restrict__ prices,
            int knots, int steps, double mean_reversion, double sigma) {
    __shared__ double states[2][THREADS + 4];
    __shared__ double alpha_discount[MAX_STEPS];
    __shared__ double scratch[THREADS / 32];
    const Bond bond = bonds[blockIdx.x];
    const double dt = bond.maturity / steps;
    const double m = mean_reversion * dt;
    const double dr = sigma * sqrt(3 * dt);
    const int jmax = min((int)ceil(0.184 / m), THREADS / 2 - 1);
    const int j = (int)threadIdx.x - THREADS / 2;
    const double own = exp(-j * dr * dt);

    for (int k = threadIdx.x; k < THREADS + 4; k += THREADS)
        states[0][k] = states[1][k] = 0.0;
    __syncthreads();
    if (j == 0)
        states[0][THREADS / 2 + 2] = 1.0;
    __syncthreads();
    int now = 0;
    for (int i = 0; i < steps; i++) {
        const int top = min(i, jmax);
        double q = abs(j) <= top ? states[now][threadIdx.x + 2] : 0.0;
        double sum = block_sum(q * own, scratch);
        double ratio = discount((i + 1) * dt, zero_rates, knots) / sum;
        if (j == 0)
            alpha_discount[i] = ratio;
        // what comes from the five nodes below
        double next = 0.0;
        if (abs(j) <= min(i + 1, jmax))
            for (int d = -2; d <= 2; d++) {
                int from = j + d;
                if (abs(from) > top)
                    continue;
                Branch b = branch_of(from, jmax, m);
                int hop = j - b.middle;
                if (hop < -1 || hop > 1)
                    continue;
                double p = hop == 1 ? b.up : hop == 0 ? b.mid : b.down;
                next += p * states[now][threadIdx.x + 2 + d] * exp(-from * dr * dt);
            }
        states[now ^ 1][threadIdx.x + 2] = next * ratio;
        now ^= 1;
        __syncthreads();
    }

    const double payment = bond.coupon * dt;
    if (abs(j) <= jmax)
        states[0][threadIdx.x + 2] = 100.0 + payment;
    now = 0;
    __syncthreads();
    const Branch b = branch_of(j, jmax, m);
    for (int i = steps - 1; i >= 0; i--) {
        if (abs(j) <= min(i, jmax)) {
            const double *v = &states[now][b.middle + THREADS / 2 + 2];
            double value = alpha_discount[i] * own * (b.up * v[1] + b.mid * v[0] + b.down * v[-1]);
            if (i * dt >= bond.first_call && i > 0)
                value = fmin(value, bond.call_price);
            if (i > 0)
                value += payment;
            states[now ^ 1][threadIdx.x + 2] = value;
        }
        now ^= 1;
        __syncthreads();
    }
    if (j == 0)
        prices[blockIdx.x] = states[now][THREADS / 2 + 2];
}

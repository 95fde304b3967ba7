// Losses of a credit portfolio in the one-factor Gaussian copula: for each value of the factor, conditional default
// probabilities and the distribution of units lost by recursion in shared memory; then tranches over all factors.
#define NORM(x) (0.5 * erfc(-(x) * 0.70710678118654752))

struct Name {
    float barrier, loading;
    int units, pad;
};

extern "C" __global__ void copula(const Name *__restrict__ names, const double *__restrict__ factors,
                                  double *__restrict__ conditional, int count, int max_units) {
    extern __shared__ double loss[];
    __shared__ double p_shared[64];
    const double m = factors[blockIdx.x];
    double *now = loss, *next = loss + max_units + 1;
    for (int k = threadIdx.x; k <= max_units; k += blockDim.x)
        now[k] = k == 0 ? 1.0 : 0.0;
    int highest = 0;
    for (int base = 0; base < count; base += 64) {
        __syncthreads();
        if (threadIdx.x < 64 && base + threadIdx.x < count) {
            Name name = names[base + threadIdx.x];
            double a = name.loading;
            p_shared[threadIdx.x] = NORM((name.barrier - a * m) / sqrt(1.0 - a * a));
        }
        __syncthreads();
        for (int i = 0; i < min(64, count - base); i++) {
            const int units = names[base + i].units;
            const double p = p_shared[i];
            highest = min(highest + units, max_units);
            for (int k = threadIdx.x; k <= highest; k += blockDim.x) {
                double value = now[k] * (1.0 - p);
                if (k >= units)
                    value += now[k - units] * p;
                next[k] = value;
            }
            for (int k = highest + 1 + threadIdx.x; k <= min(highest + 16, max_units); k += blockDim.x)
                next[k] = 0.0;
            __syncthreads();
            double *t = now;
            now = next;
            next = t;
        }
    }
    for (int k = threadIdx.x; k <= max_units; k += blockDim.x)
        conditional[(size_t)blockIdx.x * (max_units + 1) + k] = k <= highest ? now[k] : 0.0;
}

extern "C" __global__ void copula_mix(const double *__restrict__ conditional, const double *__restrict__ weights,
                                      double *__restrict__ distribution, int factors, int max_units) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k > max_units)
        return;
    double sum = 0;
    for (int f = 0; f < factors; f++)
        sum += weights[f] * conditional[(size_t)f * (max_units + 1) + k];
    distribution[k] = sum;
}

extern "C" __global__ void copula_tranche(const double *__restrict__ distribution, const double2 *__restrict__ tranches,
                                          double *__restrict__ expected, int max_units, int all_units) {
    __shared__ double sums[256];
    const double2 t = tranches[blockIdx.x];
    double sum = 0;
    for (int k = threadIdx.x; k <= max_units; k += 256) {
        double loss = (double)k / all_units;
        sum += distribution[k] * fmin(fmax(loss - t.x, 0.0), t.y - t.x);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        expected[blockIdx.x] = sums[0] / (t.y - t.x);
}

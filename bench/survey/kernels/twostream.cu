// Sunlight in columns of air by two streams (Eddington's delta approximation) in many bands: a thread works out the
// layers of a column in a band, adds them from the ground upwards, and finds fluxes downwards. A second kernel sums
// bands up, a third makes heating rates.
#define MAX_LAYERS 48

struct Layer {
    double r_dif, t_dif, r_dir, t_dir, t_none;
};

__device__ Layer two_stream(double tau, double w, double g, double mu0) {
    const double f = g * g;
    tau *= 1.0 - w * f;
    w = w * (1.0 - f) / (1.0 - w * f);
    g = g / (1.0 + g);
    const double gamma1 = 0.25 * (7.0 - w * (4.0 + 3.0 * g));
    const double gamma2 = -0.25 * (1.0 - w * (4.0 - 3.0 * g));
    const double gamma3 = 0.25 * (2.0 - 3.0 * g * mu0), gamma4 = 1.0 - gamma3;
    const double k = sqrt(fmax((gamma1 - gamma2) * (gamma1 + gamma2), 1e-12));
    const double e = exp(-tau * k), e2 = e * e;
    const double bottom = 1.0 / ((k + gamma1) + (k - gamma1) * e2);
    Layer layer;
    layer.r_dif = gamma2 * (1.0 - e2) * bottom;
    layer.t_dif = 2.0 * k * e * bottom;
    layer.t_none = exp(-tau / mu0);
    const double alpha1 = gamma1 * gamma4 + gamma2 * gamma3, alpha2 = gamma1 * gamma3 + gamma2 * gamma4;
    const double k_mu = k * mu0;
    double rest = 1.0 - k_mu * k_mu;
    if (fabs(rest) < 1e-8)
        rest = 1e-8;
    const double scale = w * bottom / rest;
    const double kg3 = k * gamma3, kg4 = k * gamma4;
    layer.r_dir = scale * ((1.0 - k_mu) * (alpha2 + kg3) - (1.0 + k_mu) * (alpha2 - kg3) * e2 -
                           2.0 * (kg3 - alpha2 * k_mu) * e * layer.t_none);
    layer.t_dir = -scale * ((1.0 + k_mu) * (alpha1 + kg4) * layer.t_none -
                            (1.0 - k_mu) * (alpha1 - kg4) * e2 * layer.t_none - 2.0 * (kg4 + alpha1 * k_mu) * e);
    layer.r_dir = fmax(0.0, fmin(layer.r_dir, 1.0 - layer.t_none));
    layer.t_dir = fmax(0.0, fmin(layer.t_dir, 1.0 - layer.t_none - layer.r_dir));
    return layer;
}

extern "C" __global__ void twostream_band(const double *__restrict__ tau, const double *__restrict__ ssa,
                                          const double *__restrict__ asymmetry, const double *__restrict__ mu0,
                                          const double *__restrict__ albedo, const double *__restrict__ solar,
                                          double *__restrict__ up, double *__restrict__ down, int columns, int layers,
                                          int bands) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= columns || b >= bands)
        return;
    const size_t base = (size_t)b * layers * columns + c, flux_base = (size_t)b * (layers + 1) * columns + c;
    const double mu = mu0[c];
    if (mu <= 0.0) {  // night
        for (int k = 0; k <= layers; k++)
            up[flux_base + (size_t)k * columns] = down[flux_base + (size_t)k * columns] = 0.0;
        return;
    }
    Layer layer[MAX_LAYERS];
    double direct[MAX_LAYERS + 1], reflect[MAX_LAYERS + 1], source[MAX_LAYERS + 1], denominator[MAX_LAYERS];
    direct[0] = solar[b] * mu;
    for (int k = 0; k < layers; k++) {
        const size_t at = base + (size_t)k * columns;
        layer[k] = two_stream(tau[at], ssa[at], asymmetry[at], mu);
        direct[k + 1] = direct[k] * layer[k].t_none;
    }
    reflect[layers] = albedo[c];
    source[layers] = albedo[c] * direct[layers];
    for (int k = layers - 1; k >= 0; k--) {
        const Layer &l = layer[k];
        denominator[k] = 1.0 / (1.0 - l.r_dif * reflect[k + 1]);
        reflect[k] = l.r_dif + l.t_dif * l.t_dif * reflect[k + 1] * denominator[k];
        source[k] = l.r_dir * direct[k] +
                    l.t_dif * denominator[k] * (source[k + 1] + reflect[k + 1] * l.t_dir * direct[k]);
    }
    double falling = 0.0;
    up[flux_base] = source[0];
    down[flux_base] = direct[0];
    for (int k = 0; k < layers; k++) {
        const Layer &l = layer[k];
        falling = (l.t_dif * falling + l.r_dif * source[k + 1] + l.t_dir * direct[k]) * denominator[k];
        const size_t at = flux_base + (size_t)(k + 1) * columns;
        up[at] = falling * reflect[k + 1] + source[k + 1];
        down[at] = falling + direct[k + 1];
    }
}

extern "C" __global__ void twostream_sum(const double *__restrict__ up, const double *__restrict__ down,
                                         double *__restrict__ net, int points, int bands) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += gridDim.x * blockDim.x) {
        double sum = 0.0;
        for (int b = 0; b < bands; b++)
            sum += down[(size_t)b * points + i] - up[(size_t)b * points + i];
        net[i] = sum;
    }
}

extern "C" __global__ void twostream_heating(const double *__restrict__ net, const double *__restrict__ pressure,
                                             float *__restrict__ heating, int columns, int layers) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    if (c >= columns)
        return;
    const size_t at = (size_t)k * columns + c;
    const double gone = net[at] - net[at + columns];
    heating[at] = (float)(86400.0 * 9.81 / 1004.0 * gone / (pressure[at + columns] - pressure[at]));
}

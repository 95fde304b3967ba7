// Warm rain after Kessler in columns of air, a thread a column: rain falls in as many small steps as its speed needs,
// then cloud turns into rain, rain evaporates, and vapour condenses to saturation.
#define MAX_LEVELS 64


struct Constants {
    double dt, latent, cp, autoconversion, threshold, accretion;
};

__device__ __forceinline__ double fall_speed(double qr, double rho, double rho_surface) {
    return 36.34 * pow(fmax(qr, 0.0) * 0.001 * rho, 0.1364) * sqrt(rho_surface / rho);
}

__device__ __forceinline__ double saturation(double t, double pressure) {
    return 380.0 / pressure * exp(17.27 * (t - 273.0) / (t - 36.0));
}

extern "C" __global__ void kessler_fall(double *__restrict__ qr, const double *__restrict__ rho,
                                        const double *__restrict__ dz, double *__restrict__ rain,
                                        int *__restrict__ substeps, int columns, int levels, double dt) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns)
        return;
    double water[MAX_LEVELS], speed[MAX_LEVELS];
    double most = 0.0;
    const double rho_surface = rho[c];
    for (int k = 0; k < levels; k++) {
        const size_t at = (size_t)k * columns + c;
        water[k] = qr[at];
        speed[k] = fall_speed(water[k], rho[at], rho_surface);
        most = fmax(most, speed[k] * dt / dz[k]);
    }
    const int n = max(1, (int)ceil(most / 0.8));
    const double step = dt / n;
    double fallen = 0.0;
    for (int s = 0; s < n; s++) {
        fallen += rho_surface * water[0] * speed[0] * step;
        for (int k = 0; k < levels; k++) {
            const size_t at = (size_t)k * columns + c;
            const double here = rho[at] * water[k] * speed[k];
            const double above = k + 1 < levels ? rho[at + columns] * water[k + 1] * speed[k + 1] : 0.0;
            water[k] = fmax(water[k] + step * (above - here) / (rho[at] * dz[k]), 0.0);
        }
        if (s + 1 < n)
            for (int k = 0; k < levels; k++)
                speed[k] = fall_speed(water[k], rho[(size_t)k * columns + c], rho_surface);
    }
    for (int k = 0; k < levels; k++)
        qr[(size_t)k * columns + c] = water[k];
    rain[c] += fallen;
    substeps[c] = n;
}

extern "C" __global__ void kessler_phases(double *__restrict__ theta, double *__restrict__ qv,
                                          double *__restrict__ qc, double *__restrict__ qr,
                                          const double *__restrict__ rho, const double *__restrict__ exner, int columns,
                                          int levels, Constants con) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= columns || k >= levels)
        return;
    const size_t at = (size_t)k * columns + c;
    const double pi = exner[at], density = rho[at];
    const double pressure = 100000.0 * pow(pi, 1004.0 / 287.0);
    double t = theta[at] * pi, vapour = qv[at], cloud = qc[at], rain = qr[at];

    double product = 0.0;
    if (cloud > 0.0) {
        product = cloud - (cloud - con.dt * fmax(con.autoconversion * (cloud - con.threshold), 0.0)) /
                              (1.0 + con.dt * con.accretion * pow(rain, 0.875));
        product = fmin(product, cloud);
    }
    cloud -= product;
    rain += product;

    const double qvs = saturation(t, pressure);
    const double lack = 1.0 + qvs * con.latent / con.cp * 4093.0 / ((t - 36.0) * (t - 36.0));
    double change = (vapour - qvs) / lack;
    if (change > 0.0 || cloud > 0.0) {
        change = fmax(change, -cloud);
        vapour -= change;
        cloud += change;
        t += con.latent / con.cp * change;
    }
    if (rain > 1e-10 && cloud <= 0.0 && vapour < qvs) {
        const double drops = rain * density * 0.001;
        const double ventilation = 1.6 + 30.3922 * pow(drops, 0.2046);
        double evaporated = con.dt * ventilation * pow(drops, 0.525) * (1.0 - vapour / qvs) /
                            ((2.55e8 / (pressure * qvs) + 5.4e5) * density * 0.001);
        evaporated = fmin(evaporated, fmin((qvs - vapour) / lack, rain));
        vapour += evaporated;
        rain -= evaporated;
        t -= con.latent / con.cp * evaporated;
    }
    theta[at] = t / pi;
    qv[at] = vapour;
    qc[at] = cloud;
    qr[at] = rain;
}

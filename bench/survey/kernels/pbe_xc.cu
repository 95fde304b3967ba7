// Exchange and correlation after Perdew, Burke and Ernzerhof on the points of a grid (closed shells): energy density,
// potentials by density and by its squared gradient, then integrals of both by two kernels.
#define PI 3.14159265358979323846

struct Xc {
    double e, v_rho, v_sigma;  // e: for each volume
};

__device__ __forceinline__ Xc operator+(const Xc &a, const Xc &b) {
    return {a.e + b.e, a.v_rho + b.v_rho, a.v_sigma + b.v_sigma};
}

__device__ Xc exchange(double rho, double sigma) {
    const double kappa = 0.804, mu = 0.2195149727645171;
    const double root = cbrt(rho);
    const double ex = -0.75 * cbrt(3.0 / PI) * rho * root;
    const double kf = cbrt(3.0 * PI * PI) * root;
    const double s2 = sigma / (4.0 * kf * kf * rho * rho);
    const double bottom = 1.0 + mu * s2 / kappa;
    const double f = 1.0 + kappa - kappa / bottom;
    const double df = mu / (bottom * bottom);
    Xc x;
    x.e = ex * f;
    x.v_rho = 4.0 / 3.0 * ex / rho * f - ex * df * 8.0 / 3.0 * s2 / rho;
    x.v_sigma = ex * df / (4.0 * kf * kf * rho * rho);
    return x;
}

// Perdew and Wang 1992, without spin: energy for each electron, and its slope by rs.
__device__ double pw92(double rs, double &slope) {
    const double a = 0.0310907, a1 = 0.21370, b1 = 7.5957, b2 = 3.5876, b3 = 1.6382, b4 = 0.49294;
    const double root = sqrt(rs);
    const double q0 = -2.0 * a * (1.0 + a1 * rs);
    const double q1 = 2.0 * a * root * (b1 + root * (b2 + root * (b3 + root * b4)));
    const double dq1 = a * (b1 / root + 2.0 * b2 + 3.0 * b3 * root + 4.0 * b4 * rs);
    const double logarithm = log1p(1.0 / q1);
    slope = -2.0 * a * a1 * logarithm - q0 * dq1 / (q1 * q1 + q1);
    return q0 * logarithm;
}

__device__ Xc correlation(double rho, double sigma) {
    const double beta = 0.06672455060314922, gamma = 0.031090690869654895;
    const double rs = cbrt(3.0 / (4.0 * PI * rho));
    double slope;
    const double ec = pw92(rs, slope);
    const double ec_rho = -slope * rs / (3.0 * rho);
    const double kf = cbrt(3.0 * PI * PI * rho);
    const double t2_sigma = PI / (16.0 * kf * rho * rho), t2 = sigma * t2_sigma;
    const double exponential = exp(-ec / gamma);
    const double a = beta / gamma / (exponential - 1.0);
    const double y = a * t2, bottom = 1.0 + y + y * y;
    const double ratio = (1.0 + y) / bottom;
    const double dratio = -(2.0 + y) * y / (bottom * bottom);
    const double q = beta / gamma * t2 * ratio;
    const double h = gamma * log1p(q);
    const double h_q = gamma / (1.0 + q);
    const double h_t2 = h_q * beta / gamma * (ratio + y * dratio);
    const double h_a = h_q * beta / gamma * t2 * t2 * dratio;
    const double a_ec = a * a * exponential / beta;
    Xc c;
    c.e = rho * (ec + h);
    c.v_rho = ec + h + rho * (ec_rho * (1.0 + h_a * a_ec) - 7.0 / 3.0 * h_t2 * t2 / rho);
    c.v_sigma = rho * h_t2 * t2_sigma;
    return c;
}

extern "C" __global__ void pbe_points(const double *__restrict__ rho, const double *__restrict__ gx,
                                      const double *__restrict__ gy, const double *__restrict__ gz,
                                      const double *__restrict__ weight, double *__restrict__ exc,
                                      double *__restrict__ v_rho, double *__restrict__ v_sigma,
                                      double2 *__restrict__ partial, int n, double least) {
    extern __shared__ double2 sums[];
    double2 mine = make_double2(0.0, 0.0);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const double density = rho[i];
        if (density < least) {
            exc[i] = v_rho[i] = v_sigma[i] = 0.0;
            continue;
        }
        const double sigma = gx[i] * gx[i] + gy[i] * gy[i] + gz[i] * gz[i];
        const Xc xc = exchange(density, sigma) + correlation(density, sigma);
        exc[i] = xc.e;
        v_rho[i] = xc.v_rho;
        v_sigma[i] = xc.v_sigma;
        mine.x += weight[i] * density;
        mine.y += weight[i] * xc.e;
    }
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            sums[threadIdx.x].x += sums[threadIdx.x + half].x;
            sums[threadIdx.x].y += sums[threadIdx.x + half].y;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void pbe_total(const double2 *__restrict__ partial, double *totals, int n) {
    double electrons = 0.0, energy = 0.0;
    for (int i = threadIdx.x; i < n; i += 32) {
        electrons += partial[i].x;
        energy += partial[i].y;
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        electrons += __shfl_xor_sync(0xffffffffu, electrons, offset);
        energy += __shfl_xor_sync(0xffffffffu, energy, offset);
    }
    if (threadIdx.x == 0) {
        totals[0] = electrons;
        totals[1] = energy;
    }
}

// SABR smiles fitted to quotes of eleven strikes: Levenberg and Marquardt for three parameters, a smile a thread.
#define STRIKES 11

__device__ double sabr_vol(double f, double k, double t, double alpha, double beta, double rho, double nu) {
    double one = 1.0 - beta, fk = pow(f * k, 0.5 * one), lfk = log(f / k), l2 = one * one * lfk * lfk;
    double z = nu / alpha * fk * lfk;
    double ratio = 1.0;
    if (fabs(z) > 1e-6) {
        double root = sqrt(1.0 - 2.0 * rho * z + z * z);
        ratio = z / log((root + z - rho) / (1.0 - rho));
    }
    double a = alpha / (fk * (1.0 + l2 / 24.0 + l2 * l2 / 1920.0));
    double b = 1.0 + t * (one * one / 24.0 * alpha * alpha / (fk * fk) + 0.25 * rho * beta * nu * alpha / fk +
                          (2.0 - 3.0 * rho * rho) / 24.0 * nu * nu);
    return a * ratio * b;
}

__device__ void unpack(const double x[3], double &alpha, double &rho, double &nu) {
    alpha = exp(x[0]);
    rho = 0.999 * tanh(x[1]);
    nu = exp(x[2]);
}

__device__ double residuals(const double *quote, const double *strike, double f, double t, double beta,
                            const double x[3], double r[STRIKES]) {
    double alpha, rho, nu, sum = 0.0;
    unpack(x, alpha, rho, nu);
    for (int i = 0; i < STRIKES; i++) {
        r[i] = sabr_vol(f, strike[i], t, alpha, beta, rho, nu) - quote[i];
        sum += r[i] * r[i];
    }
    return sum;
}

__device__ bool solve3(double a[3][3], double b[3]) {
    for (int c = 0; c < 3; c++) {
        int p = c;
        for (int r = c + 1; r < 3; r++)
            if (fabs(a[r][c]) > fabs(a[p][c]))
                p = r;
        if (fabs(a[p][c]) < 1e-300)
            return false;
        for (int k = 0; k < 3; k++) {
            double t = a[c][k];
            a[c][k] = a[p][k];
            a[p][k] = t;
        }
        double t = b[c];
        b[c] = b[p];
        b[p] = t;
        for (int r = c + 1; r < 3; r++) {
            double m = a[r][c] / a[c][c];
            for (int k = c; k < 3; k++)
                a[r][k] -= m * a[c][k];
            b[r] -= m * b[c];
        }
    }
    for (int r = 2; r >= 0; r--) {
        for (int k = r + 1; k < 3; k++)
            b[r] -= a[r][k] * b[k];
        b[r] /= a[r][r];
    }
    return true;
}

extern "C" __global__ void sabr_fit(const double *__restrict__ quotes, const double *__restrict__ strikes,
                                    const double *__restrict__ forward, const double *__restrict__ expiry,
                                    double *__restrict__ fitted, double *__restrict__ error, int n, double beta,
                                    int iterations) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= n)
        return;
    double quote[STRIKES], strike[STRIKES], r[STRIKES], moved[STRIKES], jac[3][STRIKES];
    for (int i = 0; i < STRIKES; i++) {
        quote[i] = quotes[s * STRIKES + i];
        strike[i] = strikes[s * STRIKES + i];
    }
    const double f = forward[s], t = expiry[s];
    double x[3] = {log(quote[STRIKES / 2] * pow(f, 1.0 - beta)), -0.1, log(0.4)};
    double damping = 1e-3, sum = residuals(quote, strike, f, t, beta, x, r);
    for (int it = 0; it < iterations; it++) {
        for (int p = 0; p < 3; p++) {
            double y[3] = {x[0], x[1], x[2]};
            const double h = 1e-5;
            y[p] += h;
            residuals(quote, strike, f, t, beta, y, moved);
            for (int i = 0; i < STRIKES; i++)
                jac[p][i] = (moved[i] - r[i]) / h;
        }
        double a[3][3], b[3], y[3];
        for (int p = 0; p < 3; p++) {
            b[p] = 0.0;
            for (int i = 0; i < STRIKES; i++)
                b[p] -= jac[p][i] * r[i];
            for (int q = 0; q < 3; q++) {
                a[p][q] = 0.0;
                for (int i = 0; i < STRIKES; i++)
                    a[p][q] += jac[p][i] * jac[q][i];
            }
        }
        for (int p = 0; p < 3; p++)
            a[p][p] *= 1.0 + damping;
        if (!solve3(a, b))
            break;
        for (int p = 0; p < 3; p++)
            y[p] = x[p] + fmin(fmax(b[p], -1.0), 1.0);
        double trial = residuals(quote, strike, f, t, beta, y, moved);
        if (trial < sum) {
            double gain = sum - trial;
            sum = trial;
            for (int p = 0; p < 3; p++)
                x[p] = y[p];
            for (int i = 0; i < STRIKES; i++)
                r[i] = moved[i];
            damping = fmax(0.3 * damping, 1e-9);
            if (gain < 1e-4 * sum)
                break;
        } else {
            damping *= 5.0;
        }
    }
    unpack(x, fitted[3 * s], fitted[3 * s + 1], fitted[3 * s + 2]);
    error[s] = sqrt(sum / STRIKES);
}

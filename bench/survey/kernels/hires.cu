// Stiff chemistry (the eight species of HIRES) in many cells, whose rates differ: Rosenbrock's method of orders 2 and 3
// with steps as large as each cell allows, LU in local arrays; a thread for each cell.
#define N 8

__device__ void rates(const double *y, double *f, double k) {
    double bound = 280.0 * y[5] * y[7];
    f[0] = -1.71 * k * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
    f[1] = 1.71 * k * y[0] - 8.75 * y[1];
    f[2] = -(8.32 + 1.71 * k) * y[2] + 0.43 * y[3] + 0.035 * y[4];
    f[3] = 8.32 * y[1] + 1.71 * k * y[2] - (0.43 + 0.69 * k) * y[3];
    f[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
    f[5] = -bound + 0.69 * k * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
    f[6] = bound - 1.81 * y[6];
    f[7] = -f[6];
}

__device__ void jacobian(const double *y, double J[N][N], double k) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            J[i][j] = 0.0;
    J[0][0] = -1.71 * k;
    J[0][1] = 0.43;
    J[0][2] = 8.32;
    J[1][0] = 1.71 * k;
    J[1][1] = -8.75;
    J[2][2] = -(8.32 + 1.71 * k);
    J[2][3] = 0.43;
    J[2][4] = 0.035;
    J[3][1] = 8.32;
    J[3][2] = 1.71 * k;
    J[3][3] = -(0.43 + 0.69 * k);
    J[4][4] = -1.745;
    J[4][5] = 0.43;
    J[4][6] = 0.43;
    J[5][3] = 0.69 * k;
    J[5][4] = 1.71;
    J[5][5] = -280.0 * y[7] - 0.43;
    J[5][6] = 0.69;
    J[5][7] = -280.0 * y[5];
    J[6][5] = 280.0 * y[7];
    J[6][6] = -1.81;
    J[6][7] = 280.0 * y[5];
    for (int j = 0; j < N; j++)
        J[7][j] = -J[6][j];
}

__device__ void decompose(double A[N][N]) {
    for (int k = 0; k < N; k++) {
        double inv = 1.0 / A[k][k];
        A[k][k] = inv;
        for (int i = k + 1; i < N; i++) {
            double m = A[i][k] * inv;
            A[i][k] = m;
            for (int j = k + 1; j < N; j++)
                A[i][j] -= m * A[k][j];
        }
    }
}

__device__ void solve(const double A[N][N], double *b) {
    for (int i = 1; i < N; i++)
        for (int j = 0; j < i; j++)
            b[i] -= A[i][j] * b[j];
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++)
            b[i] -= A[i][j] * b[j];
        b[i] *= A[i][i];
    }
}

extern "C" __global__ void hires(double *state, const double *scale, int2 *taken, int cells, double t_end, double rtol,
                                 double atol, int max_steps) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const double d = 1.0 / (2.0 + sqrt(2.0)), e32 = 6.0 + sqrt(2.0);
    double y[N], k = scale[cell];
    for (int i = 0; i < N; i++)
        y[i] = state[i * cells + cell];
    double t = 0.0, h = 1e-4;
    int accepted = 0, rejected = 0;
    while (t < t_end && accepted + rejected < max_steps) {
        if (t + h > t_end)
            h = t_end - t;
        double W[N][N], f0[N], f1[N], k1[N], k2[N], k3[N], z[N];
        jacobian(y, W, k);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                W[i][j] = (i == j ? 1.0 : 0.0) - h * d * W[i][j];
        decompose(W);

        rates(y, f0, k);
        for (int i = 0; i < N; i++)
            k1[i] = f0[i];
        solve(W, k1);
        for (int i = 0; i < N; i++)
            z[i] = y[i] + 0.5 * h * k1[i];
        rates(z, f1, k);
        for (int i = 0; i < N; i++)
            k2[i] = f1[i] - k1[i];
        solve(W, k2);
        for (int i = 0; i < N; i++) {
            k2[i] += k1[i];
            z[i] = y[i] + h * k2[i];
        }
        rates(z, k3, k);
        for (int i = 0; i < N; i++)
            k3[i] -= e32 * (k2[i] - f1[i]) + 2.0 * (k1[i] - f0[i]);
        solve(W, k3);

        double error = 0.0;
        for (int i = 0; i < N; i++) {
            double e = h / 6.0 * (k1[i] - 2.0 * k2[i] + k3[i]);
            double allowed = atol + rtol * fmax(fabs(y[i]), fabs(z[i]));
            error += (e / allowed) * (e / allowed);
        }
        error = sqrt(error / N);
        if (error <= 1.0) {
            t += h;
            accepted++;
            for (int i = 0; i < N; i++)
                y[i] = z[i];
        } else {
            rejected++;
        }
        double factor = 0.85 * pow(fmax(error, 1e-10), -1.0 / 3.0);
        h *= fmin(5.0, fmax(0.2, factor));
    }
    for (int i = 0; i < N; i++)
        state[i * cells + cell] = y[i];
    taken[cell] = make_int2(accepted, rejected);
}

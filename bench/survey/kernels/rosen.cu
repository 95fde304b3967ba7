// A small stiff reaction network in each cell of a grid: Rosenbrock's method of second order (ROS2) with steps of
// each cell's own size. Reactions are in constant tables, rates depend on a cell's temperature.
#define SPECIES 6
#define REACTIONS 8

struct Reaction {
    int reactant[2];  // the second is -1 if there is one only
    int product[2];
    double factor, energy;
};

__constant__ Reaction reactions[REACTIONS] = {
    {{0, -1}, {1, 2}, 4.0e-2, 0.0},     {{1, 2}, {0, -1}, 3.0e3, 500.0},  {{1, 1}, {3, -1}, 2.0e4, 250.0},
    {{3, -1}, {1, 4}, 1.5e1, 900.0},    {{2, 4}, {5, 1}, 8.0e2, 120.0},   {{4, -1}, {5, -1}, 6.0e-1, 0.0},
    {{5, 1}, {0, 3}, 5.0e1, 1200.0},    {{3, 4}, {0, 2}, 2.5e3, 300.0},
};

__device__ void rhs(const double *__restrict__ y, const double *__restrict__ k, double *__restrict__ dy) {
    for (int s = 0; s < SPECIES; s++)
        dy[s] = 0.0;
    for (int r = 0; r < REACTIONS; r++) {
        int a = reactions[r].reactant[0], b = reactions[r].reactant[1];
        double rate = k[r] * y[a];
        if (b >= 0)
            rate *= y[b];
        dy[a] -= rate;
        if (b >= 0)
            dy[b] -= rate;
        dy[reactions[r].product[0]] += rate;
        if (reactions[r].product[1] >= 0)
            dy[reactions[r].product[1]] += rate;
    }
}

__device__ void add_column(double (*jac)[SPECIES], int r, int column, double d) {
    int a = reactions[r].reactant[0], b = reactions[r].reactant[1];
    jac[a][column] -= d;
    if (b >= 0)
        jac[b][column] -= d;
    jac[reactions[r].product[0]][column] += d;
    if (reactions[r].product[1] >= 0)
        jac[reactions[r].product[1]][column] += d;
}

__device__ void jacobian(const double *y, const double *k, double (*jac)[SPECIES]) {
    for (int i = 0; i < SPECIES; i++)
        for (int j = 0; j < SPECIES; j++)
            jac[i][j] = 0.0;
    for (int r = 0; r < REACTIONS; r++) {
        int a = reactions[r].reactant[0], b = reactions[r].reactant[1];
        if (b < 0) {
            add_column(jac, r, a, k[r]);
        } else {
            add_column(jac, r, a, k[r] * y[b]);
            add_column(jac, r, b, k[r] * y[a]);
        }
    }
}

__device__ void decompose(double (*a)[SPECIES]) {
    for (int k = 0; k < SPECIES; k++) {
        double inverse = 1.0 / a[k][k];
        for (int i = k + 1; i < SPECIES; i++) {
            a[i][k] *= inverse;
            for (int j = k + 1; j < SPECIES; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
    }
}

__device__ void solve(const double (*a)[SPECIES], double *x) {
    for (int i = 1; i < SPECIES; i++)
        for (int j = 0; j < i; j++)
            x[i] -= a[i][j] * x[j];
    for (int i = SPECIES - 1; i >= 0; i--) {
        for (int j = i + 1; j < SPECIES; j++)
            x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}

extern "C" __global__ void rosenbrock(double *__restrict__ concentration, const double *__restrict__ temperature,
                                      int *__restrict__ steps_taken, int cells, double t_end, double rtol,
                                      double atol) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const double gamma = 1.0 + 0.70710678118654752;
    double y[SPECIES], k[REACTIONS];
    for (int s = 0; s < SPECIES; s++)
        y[s] = concentration[s * cells + cell];
    for (int r = 0; r < REACTIONS; r++)
        k[r] = reactions[r].factor * exp(-reactions[r].energy / temperature[cell]);

    double t = 0.0, h = 1e-4;
    int steps = 0;
    while (t < t_end && steps < 500) {
        if (t + h > t_end)
            h = t_end - t;
        double lu[SPECIES][SPECIES], k1[SPECIES], k2[SPECIES], stage[SPECIES];
        jacobian(y, k, lu);
        for (int i = 0; i < SPECIES; i++)
            for (int j = 0; j < SPECIES; j++)
                lu[i][j] = (i == j ? 1.0 : 0.0) - gamma * h * lu[i][j];
        decompose(lu);
        rhs(y, k, k1);
        solve(lu, k1);
        for (int s = 0; s < SPECIES; s++)
            stage[s] = y[s] + h * k1[s];
        rhs(stage, k, k2);
        for (int s = 0; s < SPECIES; s++)
            k2[s] -= 2.0 * k1[s];
        solve(lu, k2);

        double error = 0.0;
        for (int s = 0; s < SPECIES; s++) {
            stage[s] = y[s] + 1.5 * h * k1[s] + 0.5 * h * k2[s];
            double scale = atol + rtol * fmax(fabs(y[s]), fabs(stage[s]));
            double e = 0.5 * h * (k1[s] + k2[s]) / scale;
            error += e * e;
        }
        error = fmax(sqrt(error / SPECIES), 1e-10);
        steps++;
        if (error <= 1.0) {
            t += h;
            for (int s = 0; s < SPECIES; s++)
                y[s] = fmax(stage[s], 0.0);
        }
        h *= fmin(5.0, fmax(0.2, 0.9 / sqrt(error)));
    }
    for (int s = 0; s < SPECIES; s++)
        concentration[s * cells + cell] = y[s];
    steps_taken[cell] = steps;
}

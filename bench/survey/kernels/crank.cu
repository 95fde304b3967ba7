// American puts by finite differences (Crank and Nicolson): a thread for each option, which solves a tridiagonal
// system for each step of time; the points of all options are interleaved.
extern "C" __global__ void crank(const double *spot, const double *strike, const double *rate, const double *sigma,
                                 const double *maturity, double *value, double *c_star, double *d_star, double *price,
                                 int options, int points, int steps) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= options)
        return;
    double k = strike[id], r = rate[id], s2 = sigma[id] * sigma[id];
    double dt = maturity[id] / steps;
    double ds = 3.0 * k / (points - 1);

    for (int j = 0; j < points; j++)
        value[j * options + id] = fmax(k - j * ds, 0.0);

    for (int t = 0; t < steps; t++) {
        // forward: the first point keeps its value, the last is worth nothing
        double before = value[id];
        c_star[id] = 0.0;
        d_star[id] = before;
        double here = value[options + id];
        for (int j = 1; j < points - 1; j++) {
            double after = value[(j + 1) * options + id];
            double alpha = 0.25 * dt * (s2 * j * j - r * j);
            double beta = -0.5 * dt * (s2 * j * j + r);
            double gamma = 0.25 * dt * (s2 * j * j + r * j);
            double rhs = alpha * before + (1.0 + beta) * here + gamma * after;
            double a = -alpha, b = 1.0 - beta, c = -gamma;
            double m = 1.0 / (b - a * c_star[(j - 1) * options + id]);
            c_star[j * options + id] = c * m;
            d_star[j * options + id] = (rhs - a * d_star[(j - 1) * options + id]) * m;
            before = here;
            here = after;
        }
        // backward, and never less than what exercise brings
        double next = 0.0;
        value[(points - 1) * options + id] = 0.0;
        for (int j = points - 2; j >= 0; j--) {
            next = d_star[j * options + id] - c_star[j * options + id] * next;
            next = fmax(next, k - j * ds);
            value[j * options + id] = next;
        }
    }

    double at = spot[id] / ds;
    int j = min((int)at, points - 2);
    double part = at - j;
    price[id] = (1.0 - part) * value[j * options + id] + part * value[(j + 1) * options + id];
}

// Van der Pol oscillators by Dormand and Prince's method, whose step each thread chooses by its own error.
struct State {
    double x, v;
};

__device__ State operator+(State a, State b) {
    return {a.x + b.x, a.v + b.v};
}
__device__ State operator*(double s, State a) {
    return {s * a.x, s * a.v};
}

__device__ State derivative(State y, double mu) {
    return {y.v, mu * (1.0 - y.x * y.x) * y.v - y.x};
}

extern "C" __global__ void rk45(State *states, const double *mus, int *steps, int *rejected, int n, double t_end,
                                double tolerance) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    State y = states[i];
    double mu = mus[i], t = 0.0, h = 0.01;
    int taken = 0, failed = 0;
    State k1 = derivative(y, mu);
    while (t < t_end) {
        if (taken + failed >= 2000)
            break;
        if (t + h > t_end)
            h = t_end - t;
        State k2 = derivative(y + (h / 5) * k1, mu);
        State k3 = derivative(y + h * ((3.0 / 40) * k1 + (9.0 / 40) * k2), mu);
        State k4 = derivative(y + h * ((44.0 / 45) * k1 + (-56.0 / 15) * k2 + (32.0 / 9) * k3), mu);
        State k5 = derivative(y + h * ((19372.0 / 6561) * k1 + (-25360.0 / 2187) * k2 + (64448.0 / 6561) * k3 +
                                       (-212.0 / 729) * k4), mu);
        State k6 = derivative(y + h * ((9017.0 / 3168) * k1 + (-355.0 / 33) * k2 + (46732.0 / 5247) * k3 +
                                       (49.0 / 176) * k4 + (-5103.0 / 18656) * k5), mu);
        State next = y + h * ((35.0 / 384) * k1 + (500.0 / 1113) * k3 + (125.0 / 192) * k4 +
                              (-2187.0 / 6784) * k5 + (11.0 / 84) * k6);
        State k7 = derivative(next, mu);
        State e = h * ((71.0 / 57600) * k1 + (-71.0 / 16695) * k3 + (71.0 / 1920) * k4 +
                       (-17253.0 / 339200) * k5 + (22.0 / 525) * k6 + (-1.0 / 40) * k7);
        double error = fmax(fabs(e.x) / (1.0 + fabs(next.x)), fabs(e.v) / (1.0 + fabs(next.v))) / tolerance;
        double factor = error == 0.0 ? 5.0 : 0.9 * pow(error, -0.2);
        factor = fmin(5.0, fmax(0.2, factor));
        if (error <= 1.0) {
            t += h;
            y = next;
            k1 = k7; // the last is the next one's first
            taken++;
        } else {
            failed++;
            if (factor > 1.0)
                factor = 1.0;
        }
        h *= factor;
    }
    states[i] = y;
    steps[i] = taken;
    rejected[i] = failed;
}

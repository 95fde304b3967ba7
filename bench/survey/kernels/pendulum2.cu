// Double pendulums, one a thread from its own two angles, by Runge-Kutta in double, until the lower arm goes over
// the top (the well-known picture) or the time is up.
#define G 9.81

struct State {
    double th1, th2, w1, w2;
};

__device__ State derivative(State s) {
    double d = s.th1 - s.th2;
    double below = 3 - cos(2 * d);
    State r;
    r.th1 = s.w1;
    r.th2 = s.w2;
    r.w1 = (-3 * G * sin(s.th1) - G * sin(s.th1 - 2 * s.th2) -
            2 * sin(d) * (pow(s.w2, 2) + pow(s.w1, 2) * cos(d))) /
           below;
    r.w2 = 2 * sin(d) * (2 * pow(s.w1, 2) + 2 * G * cos(s.th1) + pow(s.w2, 2) * cos(d)) / below;
    return r;
}

__device__ State add(State s, State d, double t) {
    s.th1 += d.th1 * t;
    s.th2 += d.th2 * t;
    s.w1 += d.w1 * t;
    s.w2 += d.w2 * t;
    return s;
}

extern "C" __global__ void pendulum2(State *last, int *flipped, int w, int h, int steps, double dt) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const double pi = 3.14159265358979;
    State s = {-pi + 2 * pi * (x + 0.5) / w, -pi + 2 * pi * (y + 0.5) / h, 0, 0};
    int step;
    for (step = 0; step < steps; step++) {
        State k1 = derivative(s);
        State k2 = derivative(add(s, k1, dt / 2));
        State k3 = derivative(add(s, k2, dt / 2));
        State k4 = derivative(add(s, k3, dt));
        s = add(s, k1, dt / 6);
        s = add(s, k2, dt / 3);
        s = add(s, k3, dt / 3);
        s = add(s, k4, dt / 6);
        if (fabs(s.th2) > pi)
            break;
    }
    last[y * w + x] = s;
    flipped[y * w + x] = step;
}

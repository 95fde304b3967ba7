// Gas dynamics after Godunov with the exact Riemann solver: pressures between waves by Newton's iteration at each
// interface, sampled there; a step along x, then along y, with ghost cells that reflect and a time step from the
// greatest wave speed, which stays on the device.
#define IDX(i, j) ((long long)(j) * (g.nx + 2) + (i))
#define GAMMA 1.4

struct Grid {
    int nx, ny;  // without ghost cells
    double cell, cfl;
};

struct State {
    double rho, u, v, p;
};

struct Flux {
    double mass, normal, tangent, energy;
};

__device__ State primitive(double rho, double mu, double mv, double e) {
    State s;
    s.rho = rho;
    s.u = mu / rho;
    s.v = mv / rho;
    s.p = fmax((GAMMA - 1.0) * (e - 0.5 * (mu * mu + mv * mv) / rho), 1e-12);
    return s;
}

// How much a wave changes speed for a pressure in between, and its slope.
__device__ void wave(double p, const State &k, double c, double &f, double &df) {
    if (p > k.p) {
        const double a = 2.0 / ((GAMMA + 1.0) * k.rho), b = (GAMMA - 1.0) / (GAMMA + 1.0) * k.p;
        const double root = sqrt(a / (p + b));
        f = (p - k.p) * root;
        df = root * (1.0 - 0.5 * (p - k.p) / (b + p));
    } else {
        const double ratio = p / k.p;
        f = 2.0 * c / (GAMMA - 1.0) * (pow(ratio, (GAMMA - 1.0) / (2.0 * GAMMA)) - 1.0);
        df = pow(ratio, -(GAMMA + 1.0) / (2.0 * GAMMA)) / (k.rho * c);
    }
}

// The state at the interface on one side of the contact; `sign`: 1 on the left, -1 on the right.
__device__ State sample(const State &k, double c, double p, double u, double sign) {
    State s = k;
    const double speed = sign * k.u;
    if (p > k.p) {
        const double ratio = p / k.p, small = (GAMMA - 1.0) / (GAMMA + 1.0);
        const double shock = speed - c * sqrt((GAMMA + 1.0) / (2.0 * GAMMA) * ratio + (GAMMA - 1.0) / (2.0 * GAMMA));
        if (shock < 0.0) {
            s.rho = k.rho * (ratio + small) / (small * ratio + 1.0);
            s.u = u;
            s.p = p;
        }
        return s;
    }
    const double head = speed - c;
    if (head >= 0.0)
        return s;
    const double c_star = c * pow(p / k.p, (GAMMA - 1.0) / (2.0 * GAMMA));
    if (sign * u - c_star < 0.0) {
        s.rho = k.rho * pow(p / k.p, 1.0 / GAMMA);
        s.u = u;
        s.p = p;
    } else {
        const double c_fan = 2.0 / (GAMMA + 1.0) * (c + 0.5 * (GAMMA - 1.0) * speed);
        s.u = sign * c_fan;
        s.rho = k.rho * pow(c_fan / c, 2.0 / (GAMMA - 1.0));
        s.p = k.p * pow(c_fan / c, 2.0 * GAMMA / (GAMMA - 1.0));
    }
    return s;
}

__device__ Flux godunov(const State &l, const State &r) {
    const double cl = sqrt(GAMMA * l.p / l.rho), cr = sqrt(GAMMA * r.p / r.rho);
    double p = 0.5 * (l.p + r.p) - 0.125 * (r.u - l.u) * (l.rho + r.rho) * (cl + cr);
    p = fmax(p, 1e-8);
    double fl, fr, dl, dr;
    for (int iteration = 0; iteration < 20; iteration++) {
        wave(p, l, cl, fl, dl);
        wave(p, r, cr, fr, dr);
        const double next = fmax(p - (fl + fr + r.u - l.u) / (dl + dr), 1e-10);
        const double change = 2.0 * fabs(next - p) / (next + p);
        p = next;
        if (change < 1e-10)
            break;
    }
    wave(p, l, cl, fl, dl);
    wave(p, r, cr, fr, dr);
    const double u = 0.5 * (l.u + r.u + fr - fl);
    const State s = u >= 0.0 ? sample(l, cl, p, u, 1.0) : sample(r, cr, p, u, -1.0);
    Flux f;
    f.mass = s.rho * s.u;
    f.normal = f.mass * s.u + s.p;
    f.tangent = f.mass * s.v;
    f.energy = s.u * (s.p / (GAMMA - 1.0) + 0.5 * s.rho * (s.u * s.u + s.v * s.v) + s.p);
    return f;
}

extern "C" __global__ void rp_clear(unsigned long long *fastest) { *fastest = 0ull; }

extern "C" __global__ void rp_speed(const double *__restrict__ rho, const double *__restrict__ mx,
                                    const double *__restrict__ my, const double *__restrict__ e,
                                    unsigned long long *fastest, Grid g) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    double speed = 0.0;
    if (i <= g.nx && j <= g.ny) {
        const long long at = IDX(i, j);
        const State s = primitive(rho[at], mx[at], my[at], e[at]);
        speed = fmax(fabs(s.u), fabs(s.v)) + sqrt(GAMMA * s.p / s.rho);
    }
    for (int offset = 16; offset > 0; offset >>= 1)
        speed = fmax(speed, __shfl_xor_sync(0xffffffffu, speed, offset));
    if (threadIdx.x == 0)  // blocks are 32 wide
        atomicMax(fastest, (unsigned long long)__double_as_longlong(speed));
}

extern "C" __global__ void rp_ghosts(double *rho, double *mx, double *my, double *e, Grid g, int direction) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int along = direction == 0 ? g.ny : g.nx;
    if (t >= along)
        return;
    for (int side = 0; side < 2; side++) {
        long long ghost, cell;
        if (direction == 0) {
            ghost = IDX(side ? g.nx + 1 : 0, t + 1);
            cell = IDX(side ? g.nx : 1, t + 1);
        } else {
            ghost = IDX(t + 1, side ? g.ny + 1 : 0);
            cell = IDX(t + 1, side ? g.ny : 1);
        }
        rho[ghost] = rho[cell];
        mx[ghost] = direction == 0 ? -mx[cell] : mx[cell];
        my[ghost] = direction == 0 ? my[cell] : -my[cell];
        e[ghost] = e[cell];
    }
}

extern "C" __global__ void rp_flux(const double *__restrict__ rho, const double *__restrict__ mx,
                                   const double *__restrict__ my, const double *__restrict__ e,
                                   Flux *__restrict__ flux, Grid g, int direction) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    const int first_i = direction == 0 ? 0 : 1, first_j = 1 - first_i;
    if (i < first_i || j < first_j || i > g.nx || j > g.ny)
        return;
    const long long left = IDX(i, j), right = direction == 0 ? left + 1 : left + g.nx + 2;
    const double *along = direction == 0 ? mx : my, *across = direction == 0 ? my : mx;
    const State l = primitive(rho[left], along[left], across[left], e[left]);
    const State r = primitive(rho[right], along[right], across[right], e[right]);
    flux[left] = godunov(l, r);
}

extern "C" __global__ void rp_update(double *__restrict__ rho, double *__restrict__ mx, double *__restrict__ my,
                                     double *__restrict__ e, const Flux *__restrict__ flux,
                                     const unsigned long long *__restrict__ fastest, Grid g, int direction) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i > g.nx || j > g.ny)
        return;
    const double ratio = g.cfl / __longlong_as_double((long long)*fastest);  // dt by the cell's side
    const long long at = IDX(i, j);
    const Flux in = flux[direction == 0 ? at - 1 : at - (g.nx + 2)], out = flux[at];
    double *along = direction == 0 ? mx : my, *across = direction == 0 ? my : mx;
    rho[at] += ratio * (in.mass - out.mass);
    along[at] += ratio * (in.normal - out.normal);
    across[at] += ratio * (in.tangent - out.tangent);
    e[at] += ratio * (in.energy - out.energy);
}

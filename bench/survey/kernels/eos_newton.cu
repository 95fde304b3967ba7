// Equations of state in a hydrodynamic code: temperature from energy, then pressure and speed of sound, for cells of
// three kinds: a gamma law, a table (densities by binary search, energies as cubics of temperature, Newton within a
// bracket), and a plasma with radiation (Newton). Then the shortest time step, by warps and an atomic minimum.
#include <cuda_runtime.h>

enum Kind : unsigned char { GAMMA_LAW = 0, TABLE = 1, RADIATIVE = 2 };

struct Table {
    int n_rho, n_t;
};

struct Gas {
    double gamma, cv, gamma_plasma, cv_plasma, radiation;
    double tolerance;
    int most;
};

// The last entry that is not above, so that the next one exists.
__device__ int search(const double *__restrict__ x, int n, double value) {
    int low = 0, high = n - 1;
    while (high - low > 1) {
        const int mid = (low + high) >> 1;
        if (x[mid] <= value)
            low = mid;
        else
            high = mid;
    }
    return low;
}

struct Row {
    const double *lower, *upper;
    double weight;
    __device__ double operator[](int k) const { return lower[k] + weight * (upper[k] - lower[k]); }
};

__device__ double hermite(double s, double width, double y0, double y1, double d0, double d1, double &slope) {
    const double a = y1 - y0 - width * d0, b = width * d1 - (y1 - y0);
    const double c2 = 2.0 * a - b, c3 = b - a;
    const double value = y0 + s * (width * d0 + s * (c2 + s * c3));
    slope = d0 + s * (2.0 * c2 + s * 3.0 * c3) / width;
    return value;
}

__device__ int from_table(double rho, double e, const Table &table, const double *__restrict__ rho_nodes,
                          const double *__restrict__ t_nodes, const double *__restrict__ energy,
                          const double *__restrict__ heat, const double *__restrict__ pressure, const Gas &gas,
                          double &t, double &p, double &c2) {
    const int r = search(rho_nodes, table.n_rho, rho);
    const double weight = (rho - rho_nodes[r]) / (rho_nodes[r + 1] - rho_nodes[r]);
    const int at = r * table.n_t, next = at + table.n_t;
    const Row es = {energy + at, energy + next, weight}, cs = {heat + at, heat + next, weight};
    const Row ps = {pressure + at, pressure + next, weight};
    int low = 0, high = table.n_t - 1;
    while (high - low > 1) {
        const int mid = (low + high) >> 1;
        if (es[mid] <= e)
            low = mid;
        else
            high = mid;
    }
    const double t0 = t_nodes[low], width = t_nodes[low + 1] - t0;
    const double e0 = es[low], e1 = es[low + 1], d0 = cs[low], d1 = cs[low + 1];
    double left = 0.0, right = 1.0, s = fmin(fmax((e - e0) / (e1 - e0), 0.0), 1.0), slope = d0;
    int rounds = 0;
    for (; rounds < gas.most; rounds++) {
        const double f = hermite(s, width, e0, e1, d0, d1, slope) - e;
        if (fabs(f) <= gas.tolerance * fabs(e))
            break;
        if (f > 0.0)
            right = s;
        else
            left = s;
        s -= f / (slope * width);
        if (!(s > left && s < right))
            s = 0.5 * (left + right);
    }
    t = t0 + s * width;
    const double p0 = ps[low], p1 = ps[low + 1];
    p = p0 + s * (p1 - p0);
    const double dp_dt = (p1 - p0) / width;
    const double lower_p = ps.lower[low] + s * (ps.lower[low + 1] - ps.lower[low]);
    const double upper_p = ps.upper[low] + s * (ps.upper[low + 1] - ps.upper[low]);
    const double dp_drho = (upper_p - lower_p) / (rho_nodes[r + 1] - rho_nodes[r]);
    c2 = dp_drho + t * dp_dt * dp_dt / (rho * rho * slope);
    return rounds;
}

extern "C" __global__ void eos_cells(const double *__restrict__ rho, const double *__restrict__ energy,
                                     const unsigned char *__restrict__ kind, double *__restrict__ temperature,
                                     double *__restrict__ pressure, double *__restrict__ sound, int *__restrict__ rounds,
                                     const double *__restrict__ rho_nodes, const double *__restrict__ t_nodes,
                                     const double *__restrict__ e_table, const double *__restrict__ c_table,
                                     const double *__restrict__ p_table, Table table, Gas gas, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double d = rho[i], e = energy[i];
    double t = 0.0, p = 0.0, c2 = 0.0;
    int count = 0;
    switch (kind[i]) {
    case GAMMA_LAW:
        t = e / gas.cv;
        p = (gas.gamma - 1.0) * d * e;
        c2 = gas.gamma * p / d;
        break;
    case TABLE:
        count = from_table(d, e, table, rho_nodes, t_nodes, e_table, c_table, p_table, gas, t, p, c2);
        break;
    case RADIATIVE: {
        // cv T + a T^4 / rho = e
        const double a = gas.radiation / d;
        t = fmin(e / gas.cv_plasma, sqrt(sqrt(e / a)));
        for (; count < gas.most; count++) {
            const double t3 = t * t * t;
            const double f = gas.cv_plasma * t + a * t3 * t - e;
            if (fabs(f) <= gas.tolerance * e)
                break;
            t -= f / (gas.cv_plasma + 4.0 * a * t3);
        }
        const double gas_p = (gas.gamma_plasma - 1.0) * d * gas.cv_plasma * t;
        const double radiant = gas.radiation * t * t * t * t / 3.0;
        p = gas_p + radiant;
        const double dp_dt = (gas_p + 4.0 * radiant) / t;
        const double cv = gas.cv_plasma + 12.0 * radiant / (d * t);
        c2 = gas_p / d + t * dp_dt * dp_dt / (d * d * cv);
        break;
    }
    }
    temperature[i] = t;
    pressure[i] = p;
    sound[i] = sqrt(fmax(c2, 1e-20));
    rounds[i] = count;
}

extern "C" __global__ void eos_time_step(const double *__restrict__ sound, const double *__restrict__ speed,
                                         unsigned long long *shortest, double side, int n) {
    double mine = 1e30;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine = fmin(mine, side / (sound[i] + fabs(speed[i])));
    for (int offset = 16; offset > 0; offset >>= 1)
        mine = fmin(mine, __shfl_down_sync(0xffffffffu, mine, offset));
    if ((threadIdx.x & 31) == 0)
        atomicMin(shortest, (unsigned long long)__double_as_longlong(mine));
}

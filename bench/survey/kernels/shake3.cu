// A step of rigid water: velocity Verlet, SHAKE on positions (three constraints a molecule, repeated until they hold),
// then RATTLE on velocities by a linear system of 3 x 3 for each molecule, and the kinetic energy.
#define PER 3
#define MAX_ITER 50

struct Model {
    double mass[PER];
    double d2[PER];  // squared lengths of O-H1, O-H2, H1-H2
    double dt, tolerance;
};

__constant__ int c_from[PER] = {0, 0, 1};
__constant__ int c_to[PER] = {1, 2, 2};

extern "C" __global__ void shake3_drift(const double *__restrict__ x, double *__restrict__ v,
                                        const double *__restrict__ f, double *__restrict__ x_new, int atoms,
                                        Model model) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= 3 * atoms)
        return;
    const double inv_mass = 1.0 / model.mass[t / 3 % PER];
    const double half = v[t] + 0.5 * model.dt * f[t] * inv_mass;
    v[t] = half;
    x_new[t] = x[t] + model.dt * half;
}

extern "C" __global__ void shake3_positions(const double *__restrict__ x, double *__restrict__ x_new,
                                            double *__restrict__ v, int *__restrict__ iterations, int molecules,
                                            Model model) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= molecules)
        return;
    double3 now[PER], old_bond[PER], start[PER];
    const double *from = x + (size_t)m * 9;
    double *to = x_new + (size_t)m * 9;
    for (int a = 0; a < PER; a++)
        now[a] = start[a] = make_double3(to[3 * a], to[3 * a + 1], to[3 * a + 2]);
    for (int c = 0; c < PER; c++) {
        const double *p = from + 3 * c_from[c], *q = from + 3 * c_to[c];
        old_bond[c] = make_double3(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
    }
    int iteration = 0;
    bool done = false;
    while (!done && iteration < MAX_ITER) {
        done = true;
        for (int c = 0; c < PER; c++) {
            const int i = c_from[c], j = c_to[c];
            const double sx = now[i].x - now[j].x, sy = now[i].y - now[j].y, sz = now[i].z - now[j].z;
            const double off = sx * sx + sy * sy + sz * sz - model.d2[c];
            if (fabs(off) <= model.tolerance * model.d2[c])
                continue;
            done = false;
            const double3 r = old_bond[c];
            const double wi = 1.0 / model.mass[i], wj = 1.0 / model.mass[j];
            const double g = off / (2.0 * (wi + wj) * (sx * r.x + sy * r.y + sz * r.z));
            now[i].x -= g * wi * r.x;
            now[i].y -= g * wi * r.y;
            now[i].z -= g * wi * r.z;
            now[j].x += g * wj * r.x;
            now[j].y += g * wj * r.y;
            now[j].z += g * wj * r.z;
        }
        iteration++;
    }
    double *speed = v + (size_t)m * 9;
    for (int a = 0; a < PER; a++) {
        to[3 * a] = now[a].x;
        to[3 * a + 1] = now[a].y;
        to[3 * a + 2] = now[a].z;
        speed[3 * a] += (now[a].x - start[a].x) / model.dt;
        speed[3 * a + 1] += (now[a].y - start[a].y) / model.dt;
        speed[3 * a + 2] += (now[a].z - start[a].z) / model.dt;
    }
    iterations[m] = iteration;
}

__device__ void solve3(double a[PER][PER], double b[PER]) {
    for (int k = 0; k < PER; k++)
        for (int i = k + 1; i < PER; i++) {
            const double factor = a[i][k] / a[k][k];
            for (int j = k; j < PER; j++)
                a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    for (int i = PER - 1; i >= 0; i--) {
        for (int j = i + 1; j < PER; j++)
            b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
    }
}

extern "C" __global__ void shake3_velocities(const double *__restrict__ x, const double *__restrict__ f,
                                             double *__restrict__ v, double *__restrict__ kinetic, int molecules,
                                             Model model) {
    __shared__ double sums[4];
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    double energy = 0.0;
    if (m < molecules) {
        const double *p = x + (size_t)m * 9, *force = f + (size_t)m * 9;
        double *speed = v + (size_t)m * 9;
        double u[9], bond[PER][3], a[PER][PER], b[PER];
        for (int t = 0; t < 9; t++)
            u[t] = speed[t] + 0.5 * model.dt * force[t] / model.mass[t / 3];
        for (int c = 0; c < PER; c++) {
            b[c] = 0.0;
            for (int d = 0; d < 3; d++) {
                bond[c][d] = p[3 * c_from[c] + d] - p[3 * c_to[c] + d];
                b[c] += bond[c][d] * (u[3 * c_from[c] + d] - u[3 * c_to[c] + d]);
            }
        }
        for (int c = 0; c < PER; c++)
            for (int e = 0; e < PER; e++) {
                double weight = 0.0;  // how a pull along e moves c's ends apart
                if (c_from[c] == c_from[e]) weight += 1.0 / model.mass[c_from[c]];
                if (c_from[c] == c_to[e]) weight -= 1.0 / model.mass[c_from[c]];
                if (c_to[c] == c_from[e]) weight -= 1.0 / model.mass[c_to[c]];
                if (c_to[c] == c_to[e]) weight += 1.0 / model.mass[c_to[c]];
                a[c][e] = weight * (bond[c][0] * bond[e][0] + bond[c][1] * bond[e][1] + bond[c][2] * bond[e][2]);
            }
        solve3(a, b);
        for (int c = 0; c < PER; c++)
            for (int d = 0; d < 3; d++) {
                u[3 * c_from[c] + d] -= b[c] * bond[c][d] / model.mass[c_from[c]];
                u[3 * c_to[c] + d] += b[c] * bond[c][d] / model.mass[c_to[c]];
            }
        for (int t = 0; t < 9; t++) {
            speed[t] = u[t];
            energy += 0.5 * model.mass[t / 3] * u[t] * u[t];
        }
    }
    for (int offset = 16; offset > 0; offset >>= 1)
        energy += __shfl_down_sync(0xffffffffu, energy, offset);
    if ((threadIdx.x & 31) == 0)
        sums[threadIdx.x >> 5] = energy;
    __syncthreads();
    if (threadIdx.x == 0)
        kinetic[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

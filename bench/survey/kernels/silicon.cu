// Forces in silicon after Stillinger and Weber: pairs, and triples by angles at each atom, from lists of neighbours
// (one column an atom). Forces on the ends of triples go by atomics; energies are summed up a block at a time.
struct Params {
    double A, B, epsilon, sigma, a, lambda, gamma;  // p = 4, q = 0
};

struct Vec3 {
    double x, y, z;
};

__device__ inline Vec3 operator-(const Vec3 &p, const Vec3 &q) { return {p.x - q.x, p.y - q.y, p.z - q.z}; }
__device__ inline double dot(const Vec3 &p, const Vec3 &q) { return p.x * q.x + p.y * q.y + p.z * q.z; }

__device__ inline double nearest(double d, double length) {
    return d - length * rint(d / length);
}

__device__ inline Vec3 wrap(Vec3 d, const Vec3 &box) {
    return {nearest(d.x, box.x), nearest(d.y, box.y), nearest(d.z, box.z)};
}

__device__ inline void add_force(double *__restrict__ f, int i, double x, double y, double z) {
    atomicAdd(f + 3 * i, x);
    atomicAdd(f + 3 * i + 1, y);
    atomicAdd(f + 3 * i + 2, z);
}

extern "C" __global__ void silicon_clear(double *f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 * n)
        f[i] = 0.0;
}

extern "C" __global__ void silicon_forces(const Vec3 *__restrict__ position, const int *__restrict__ neighbour_count,
                                          const int *__restrict__ neighbours, double *__restrict__ f,
                                          double *__restrict__ block_energy, int n, Vec3 box, Params sw) {
    __shared__ double energies[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double energy = 0.0;
    if (i < n) {
        const Vec3 home = position[i];
        const double reach = sw.a * sw.sigma;
        const int count = neighbour_count[i];
        Vec3 mine = {0.0, 0.0, 0.0};
        for (int jj = 0; jj < count; jj++) {
            const int j = neighbours[jj * n + i];
            const Vec3 dj = wrap(position[j] - home, box);
            const double rj2 = dot(dj, dj);
            if (rj2 >= reach * reach)
                continue;
            const double rj = sqrt(rj2);

            // Pairs: each is met twice, so half of its energy, and the whole force on this atom.
            const double inv = 1.0 / (rj - reach);
            const double s2 = sw.sigma * sw.sigma / rj2, s4 = sw.B * s2 * s2;
            const double e = sw.A * sw.epsilon * exp(sw.sigma * inv);
            energy += 0.5 * e * (s4 - 1.0);
            const double slope = e * (-4.0 * s4 / rj - (s4 - 1.0) * sw.sigma * inv * inv);
            mine.x += slope * dj.x / rj;
            mine.y += slope * dj.y / rj;
            mine.z += slope * dj.z / rj;

            const double gj = exp(sw.gamma * sw.sigma * inv);
            const double slope_j = -sw.gamma * sw.sigma * inv * inv;
            for (int kk = jj + 1; kk < count; kk++) {
                const int k = neighbours[kk * n + i];
                const Vec3 dk = wrap(position[k] - home, box);
                const double rk2 = dot(dk, dk);
                if (rk2 >= reach * reach)
                    continue;
                const double rk = sqrt(rk2), inv_k = 1.0 / (rk - reach);
                const double gk = exp(sw.gamma * sw.sigma * inv_k);
                const double slope_k = -sw.gamma * sw.sigma * inv_k * inv_k;
                const double c = dot(dj, dk) / (rj * rk), off = c + 1.0 / 3.0;
                const double h = sw.lambda * sw.epsilon * gj * gk;
                energy += h * off * off;
                const double dc = 2.0 * h * off, hj = h * off * off * slope_j, hk = h * off * off * slope_k;
                const double jj_ = hj / rj - dc * c / rj2, kk_ = hk / rk - dc * c / rk2, jk = dc / (rj * rk);
                const Vec3 fj = {-(jj_ * dj.x + jk * dk.x), -(jj_ * dj.y + jk * dk.y), -(jj_ * dj.z + jk * dk.z)};
                const Vec3 fk = {-(kk_ * dk.x + jk * dj.x), -(kk_ * dk.y + jk * dj.y), -(kk_ * dk.z + jk * dj.z)};
                add_force(f, j, fj.x, fj.y, fj.z);
                add_force(f, k, fk.x, fk.y, fk.z);
                mine.x -= fj.x + fk.x;
                mine.y -= fj.y + fk.y;
                mine.z -= fj.z + fk.z;
            }
        }
        add_force(f, i, mine.x, mine.y, mine.z);
    }
    energies[threadIdx.x] = energy;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            energies[threadIdx.x] += energies[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        block_energy[blockIdx.x] = energies[0];
}

// Forces in a metal by the embedded-atom method with tables: linked cells of the periodic box with 16 places each,
// densities and pair forces first, then the embedding, then its forces. A thread for each place.
#define MAX_ATOMS 16

struct Table {
    const double *values;  // from one before the first
    double x0, inv_dx;
    int n;
};

struct Box {
    int nx, ny, nz;
    double lx, ly, lz, cutoff2;
};

__device__ void interpolate(const Table &table, double r, double &f, double &df) {
    const double *tt = table.values;
    if (r < table.x0)
        r = table.x0;
    r = (r - table.x0) * table.inv_dx;
    int ii = (int)floor(r);
    if (ii > table.n) {
        ii = table.n;
        r = table.n / table.inv_dx;
    }
    r = r - floor(r);
    double g1 = tt[ii + 1] - tt[ii - 1];
    double g2 = tt[ii + 2] - tt[ii];
    f = tt[ii] + 0.5 * r * (g1 + r * (tt[ii + 1] + tt[ii - 1] - 2.0 * tt[ii]));
    df = 0.5 * (g1 + r * (g2 - g1)) * table.inv_dx;
}

__device__ __forceinline__ double nearest(double d, double length) {
    if (d > 0.5 * length)
        d -= length;
    else if (d < -0.5 * length)
        d += length;
    return d;
}

__device__ int neighbour_box(const Box &box, int id, int k) {
    int x = id % box.nx + k % 3 - 1;
    int y = id / box.nx % box.ny + k / 3 % 3 - 1;
    int z = id / (box.nx * box.ny) + k / 9 - 1;
    x = (x + box.nx) % box.nx;
    y = (y + box.ny) % box.ny;
    z = (z + box.nz) % box.nz;
    return (z * box.ny + y) * box.nx + x;
}

extern "C" __global__ void eam_pairs(const double *__restrict__ rx, const double *__restrict__ ry,
                                     const double *__restrict__ rz, const int *__restrict__ count, double *fx,
                                     double *fy, double *fz, double *energy, double *rho_bar, const double *phi_table,
                                     const double *rho_table, double x0, double inv_dx, int entries, int nx, int ny,
                                     int nz, double lx, double ly, double lz, double cutoff2) {
    Box box = {nx, ny, nz, lx, ly, lz, cutoff2};
    Table phi = {phi_table + 1, x0, inv_dx, entries}, rho = {rho_table + 1, x0, inv_dx, entries};
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int home = id / MAX_ATOMS, slot = id % MAX_ATOMS;
    if (home >= nx * ny * nz || slot >= count[home])
        return;
    double x = rx[id], y = ry[id], z = rz[id];
    double ax = 0, ay = 0, az = 0, e = 0, density = 0;
    for (int k = 0; k < 27; k++) {
        int other = neighbour_box(box, home, k);
        for (int j = other * MAX_ATOMS; j < other * MAX_ATOMS + count[other]; j++) {
            double dx = nearest(x - rx[j], lx), dy = nearest(y - ry[j], ly), dz = nearest(z - rz[j], lz);
            double r2 = dx * dx + dy * dy + dz * dz;
            if (r2 <= box.cutoff2 && r2 > 0.0) {
                double r = sqrt(r2), v, dv, p, dp;
                interpolate(phi, r, v, dv);
                interpolate(rho, r, p, dp);
                ax -= dv * dx / r;
                ay -= dv * dy / r;
                az -= dv * dz / r;
                e += 0.5 * v;
                density += p;
            }
        }
    }
    fx[id] = ax;
    fy[id] = ay;
    fz[id] = az;
    energy[id] = e;
    rho_bar[id] = density;
}

extern "C" __global__ void eam_embed(const int *__restrict__ count, double *energy, const double *rho_bar,
                                     double *df_embed, const double *f_table, double x0, double inv_dx, int entries,
                                     int boxes) {
    Table table = {f_table + 1, x0, inv_dx, entries};
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id / MAX_ATOMS >= boxes || id % MAX_ATOMS >= count[id / MAX_ATOMS])
        return;
    double f, df;
    interpolate(table, rho_bar[id], f, df);
    energy[id] += f;
    df_embed[id] = df;
}

extern "C" __global__ void eam_forces(const double *__restrict__ rx, const double *__restrict__ ry,
                                      const double *__restrict__ rz, const int *__restrict__ count, double *fx,
                                      double *fy, double *fz, const double *__restrict__ df_embed,
                                      const double *rho_table, double x0, double inv_dx, int entries, int nx, int ny,
                                      int nz, double lx, double ly, double lz, double cutoff2) {
    Box box = {nx, ny, nz, lx, ly, lz, cutoff2};
    Table rho = {rho_table + 1, x0, inv_dx, entries};
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int home = id / MAX_ATOMS, slot = id % MAX_ATOMS;
    if (home >= nx * ny * nz || slot >= count[home])
        return;
    double x = rx[id], y = ry[id], z = rz[id], mine = df_embed[id];
    double ax = 0, ay = 0, az = 0;
    for (int k = 0; k < 27; k++) {
        int other = neighbour_box(box, home, k);
        for (int j = other * MAX_ATOMS; j < other * MAX_ATOMS + count[other]; j++) {
            double dx = nearest(x - rx[j], lx), dy = nearest(y - ry[j], ly), dz = nearest(z - rz[j], lz);
            double r2 = dx * dx + dy * dy + dz * dz;
            if (r2 <= box.cutoff2 && r2 > 0.0) {
                double r = sqrt(r2), p, dp;
                interpolate(rho, r, p, dp);
                double f = -(mine + df_embed[j]) * dp / r;
                ax += f * dx;
                ay += f * dy;
                az += f * dz;
            }
        }
    }
    fx[id] += ax;
    fy[id] += ay;
    fz[id] += az;
}

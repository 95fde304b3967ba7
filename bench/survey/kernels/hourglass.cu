// Forces against hourglass modes in a mesh of hexahedra: a thread for each element with its eight corners in local
// arrays, then a thread for each node that adds up what its elements' corners have.
typedef double Real;

__constant__ Real gamma_mode[4][8] = {{1, 1, -1, -1, -1, -1, 1, 1},
                                      {1, -1, -1, 1, -1, 1, 1, -1},
                                      {1, -1, 1, -1, 1, -1, 1, -1},
                                      {-1, 1, -1, 1, 1, -1, 1, -1}};

// The derivative of an element's volume by a corner, from the six that matter.
__device__ __forceinline__ void volume_derivative(Real x0, Real x1, Real x2, Real x3, Real x4, Real x5, Real y0,
                                                  Real y1, Real y2, Real y3, Real y4, Real y5, Real z0, Real z1,
                                                  Real z2, Real z3, Real z4, Real z5, Real *dvdx, Real *dvdy,
                                                  Real *dvdz) {
    const Real twelfth = Real(1.0) / Real(12.0);
    *dvdx = (y1 + y2) * (z0 + z1) - (y0 + y1) * (z1 + z2) + (y0 + y4) * (z3 + z4) - (y3 + y4) * (z0 + z4) -
            (y2 + y5) * (z3 + z5) + (y3 + y5) * (z2 + z5);
    *dvdy = -(x1 + x2) * (z0 + z1) + (x0 + x1) * (z1 + z2) - (x0 + x4) * (z3 + z4) + (x3 + x4) * (z0 + z4) +
            (x2 + x5) * (z3 + z5) - (x3 + x5) * (z2 + z5);
    *dvdz = -(y1 + y2) * (x0 + x1) + (y0 + y1) * (x1 + x2) - (y0 + y4) * (x3 + x4) + (y3 + y4) * (x0 + x4) +
            (y2 + y5) * (x3 + x5) - (y3 + y5) * (x2 + x5);
    *dvdx *= twelfth;
    *dvdy *= twelfth;
    *dvdz *= twelfth;
}

#define CORNER(at, a, b, c, d, e, f)                                                                                \
    volume_derivative(x[a], x[b], x[c], x[d], x[e], x[f], y[a], y[b], y[c], y[d], y[e], y[f], z[a], z[b], z[c],     \
                      z[d], z[e], z[f], &dvdx[at], &dvdy[at], &dvdz[at])

__device__ void corner_derivatives(const Real x[8], const Real y[8], const Real z[8], Real dvdx[8], Real dvdy[8],
                                   Real dvdz[8]) {
    CORNER(0, 1, 2, 3, 4, 5, 7);
    CORNER(3, 0, 1, 2, 7, 4, 6);
    CORNER(2, 3, 0, 1, 6, 7, 5);
    CORNER(1, 2, 3, 0, 5, 6, 4);
    CORNER(4, 7, 6, 5, 0, 3, 1);
    CORNER(5, 4, 7, 6, 1, 0, 2);
    CORNER(6, 5, 4, 7, 2, 1, 3);
    CORNER(7, 6, 5, 4, 3, 2, 0);
}

__device__ void elem_force(const Real *v, Real hourgam[8][4], Real coefficient, Real *force) {
    Real mode[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        mode[i] = 0;
        for (int n = 0; n < 8; n++)
            mode[i] += hourgam[n][i] * v[n];
    }
#pragma unroll
    for (int n = 0; n < 8; n++)
        force[n] = coefficient * (hourgam[n][0] * mode[0] + hourgam[n][1] * mode[1] + hourgam[n][2] * mode[2] +
                                  hourgam[n][3] * mode[3]);
}

extern "C" __global__ void hourglass_elements(const Real *__restrict__ px, const Real *__restrict__ py,
                                              const Real *__restrict__ pz, const Real *__restrict__ vx,
                                              const Real *__restrict__ vy, const Real *__restrict__ vz,
                                              const int *__restrict__ node_list, const Real *__restrict__ sound_speed,
                                              const Real *__restrict__ mass, const Real *__restrict__ volume,
                                              Real *fx_elem, Real *fy_elem, Real *fz_elem, int elements,
                                              Real strength) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= elements)
        return;
    Real x[8], y[8], z[8], v[8], dvdx[8], dvdy[8], dvdz[8], hourgam[8][4], force[8];
    const int *nodes = node_list + 8 * k;
    for (int n = 0; n < 8; n++) {
        x[n] = px[nodes[n]];
        y[n] = py[nodes[n]];
        z[n] = pz[nodes[n]];
    }
    corner_derivatives(x, y, z, dvdx, dvdy, dvdz);

    Real determinant = volume[k], over_volume = Real(1.0) / determinant;
    for (int i = 0; i < 4; i++) {
        Real mode_x = 0, mode_y = 0, mode_z = 0;
        for (int n = 0; n < 8; n++) {
            mode_x += x[n] * gamma_mode[i][n];
            mode_y += y[n] * gamma_mode[i][n];
            mode_z += z[n] * gamma_mode[i][n];
        }
        for (int n = 0; n < 8; n++)
            hourgam[n][i] =
                gamma_mode[i][n] - over_volume * (dvdx[n] * mode_x + dvdy[n] * mode_y + dvdz[n] * mode_z);
    }

    Real coefficient = -strength * Real(0.01) * sound_speed[k] * mass[k] / cbrt(determinant);
    for (int n = 0; n < 8; n++)
        v[n] = vx[nodes[n]];
    elem_force(v, hourgam, coefficient, force);
    for (int n = 0; n < 8; n++)
        fx_elem[8 * k + n] = force[n];
    for (int n = 0; n < 8; n++)
        v[n] = vy[nodes[n]];
    elem_force(v, hourgam, coefficient, force);
    for (int n = 0; n < 8; n++)
        fy_elem[8 * k + n] = force[n];
    for (int n = 0; n < 8; n++)
        v[n] = vz[nodes[n]];
    elem_force(v, hourgam, coefficient, force);
    for (int n = 0; n < 8; n++)
        fz_elem[8 * k + n] = force[n];
}

extern "C" __global__ void hourglass_nodes(const Real *fx_elem, const Real *fy_elem, const Real *fz_elem,
                                           const int *__restrict__ corner_start, const int *__restrict__ corner_list,
                                           Real *fx, Real *fy, Real *fz, int nodes) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= nodes)
        return;
    Real sx = 0, sy = 0, sz = 0;
    for (int i = corner_start[g]; i < corner_start[g + 1]; i++) {
        int corner = corner_list[i];
        sx += fx_elem[corner];
        sy += fy_elem[corner];
        sz += fz_elem[corner];
    }
    fx[g] += sx;
    fy[g] += sy;
    fz[g] += sz;
}

// A slice of dry air in finite volumes: density, momenta and potential temperature that differ from a base at rest; steps
// of three stages whose directions take turns, fluxes of fourth order with hyperviscosity, ghosts of two cells.
#define HS 2
#define STEN 4
#define NVARS 4
enum { DENS, UMOM, WMOM, RHOT };
#define GRAV 9.8
#define C0 27.5629410929725921310572974482
#define GAMMA 1.40027894002789400278940027894
#define HV_BETA 0.05
#define STATE(ll, k, i) ((((ll) * (nz + 2 * HS)) + (k)) * (nx + 2 * HS) + (i))
#define FLUX(ll, k, i) ((((ll) * (nz + 1)) + (k)) * (nx + 1) + (i))

extern "C" __global__ void halo_x(double *state, int nx, int nz) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, ll = blockIdx.y;
    if (k >= nz)
        return;
    state[STATE(ll, k + HS, 0)] = state[STATE(ll, k + HS, nx + HS - 2)];
    state[STATE(ll, k + HS, 1)] = state[STATE(ll, k + HS, nx + HS - 1)];
    state[STATE(ll, k + HS, nx + HS)] = state[STATE(ll, k + HS, HS)];
    state[STATE(ll, k + HS, nx + HS + 1)] = state[STATE(ll, k + HS, HS + 1)];
}

extern "C" __global__ void halo_z(double *state, const double *base_dens, int nx, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, ll = blockIdx.y;
    if (i >= nx + 2 * HS)
        return;
    for (int side = 0; side < 2; side++)
        for (int g = 0; g < HS; g++) {
            int to = side ? nz + HS + g : g, from = side ? nz + HS - 1 : HS;
            if (ll == WMOM)
                state[STATE(ll, to, i)] = 0.0;
            else if (ll == UMOM)
                state[STATE(ll, to, i)] = state[STATE(ll, from, i)] / base_dens[from] * base_dens[to];
            else
                state[STATE(ll, to, i)] = state[STATE(ll, from, i)];
        }
}

extern "C" __global__ void flux_x(const double *state, double *flux, const double *base_dens,
                                  const double *base_theta, int nx, int nz, double hv) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > nx || k >= nz)
        return;
    double stencil[STEN], vals[NVARS], third[NVARS];
    for (int ll = 0; ll < NVARS; ll++) {
        for (int s = 0; s < STEN; s++)
            stencil[s] = state[STATE(ll, k + HS, i + s)];
        vals[ll] = -stencil[0] / 12 + 7 * stencil[1] / 12 + 7 * stencil[2] / 12 - stencil[3] / 12;
        third[ll] = -stencil[0] + 3 * stencil[1] - 3 * stencil[2] + stencil[3];
    }
    double r = vals[DENS] + base_dens[k + HS];
    double u = vals[UMOM] / r, w = vals[WMOM] / r, t = (vals[RHOT] + base_theta[k + HS]) / r;
    double p = C0 * pow(r * t, GAMMA);
    flux[FLUX(DENS, k, i)] = r * u - hv * third[DENS];
    flux[FLUX(UMOM, k, i)] = r * u * u + p - hv * third[UMOM];
    flux[FLUX(WMOM, k, i)] = r * u * w - hv * third[WMOM];
    flux[FLUX(RHOT, k, i)] = r * u * t - hv * third[RHOT];
}

extern "C" __global__ void flux_z(const double *state, double *flux, const double *edge_dens,
                                  const double *edge_theta, const double *edge_pressure, int nx, int nz, double hv) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || k > nz)
        return;
    double stencil[STEN], vals[NVARS], third[NVARS];
    for (int ll = 0; ll < NVARS; ll++) {
        for (int s = 0; s < STEN; s++)
            stencil[s] = state[STATE(ll, k + s, i + HS)];
        vals[ll] = -stencil[0] / 12 + 7 * stencil[1] / 12 + 7 * stencil[2] / 12 - stencil[3] / 12;
        third[ll] = -stencil[0] + 3 * stencil[1] - 3 * stencil[2] + stencil[3];
    }
    double r = vals[DENS] + edge_dens[k];
    double u = vals[UMOM] / r, w = vals[WMOM] / r, t = (vals[RHOT] + edge_theta[k]) / r;
    double p = C0 * pow(r * t, GAMMA) - edge_pressure[k];
    if (k == 0 || k == nz) {
        w = 0.0;
        third[DENS] = 0.0;
    }
    flux[FLUX(DENS, k, i)] = r * w - hv * third[DENS];
    flux[FLUX(UMOM, k, i)] = r * w * u - hv * third[UMOM];
    flux[FLUX(WMOM, k, i)] = r * w * w + p - hv * third[WMOM];
    flux[FLUX(RHOT, k, i)] = r * w * t - hv * third[RHOT];
}

// step_k and step_i: what the next flux is away in each direction, one of them 0.
extern "C" __global__ void tendencies(const double *forcing, const double *flux, double *tend, int nx, int nz,
                                      int step_k, int step_i, double spacing) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y, ll = blockIdx.z;
    if (i >= nx || k >= nz)
        return;
    double t = -(flux[FLUX(ll, k + step_k, i + step_i)] - flux[FLUX(ll, k, i)]) / spacing;
    if (step_k && ll == WMOM)
        t -= forcing[STATE(DENS, k + HS, i + HS)] * GRAV;
    tend[((size_t)ll * nz + k) * nx + i] = t;
}

extern "C" __global__ void apply(const double *init, double *out, const double *tend, int nx, int nz, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y, ll = blockIdx.z;
    if (i >= nx || k >= nz)
        return;
    out[STATE(ll, k + HS, i + HS)] = init[STATE(ll, k + HS, i + HS)] + dt * tend[((size_t)ll * nz + k) * nx + i];
}

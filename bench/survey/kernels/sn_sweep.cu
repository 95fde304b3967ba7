// Transport of neutrons by discrete ordinates (diamond differences with a fix for negative fluxes) in a box: for each
// octant, planes of cells one after another, a launch each, eight angles a cell; then the source from scattering.
#define ANGLES 8

struct Box {
    int nx, ny, nz;
    double ix, iy, iz;  // two by a cell's sides
};

__constant__ double c_mu[ANGLES] = {0.1389568, 0.3922893, 0.5370966, 0.6504264, 0.7467506, 0.8319966, 0.9092855, 0.2561429};
__constant__ double c_eta[ANGLES] = {0.3922893, 0.8319966, 0.6504264, 0.1389568, 0.5370966, 0.2561429, 0.3922893, 0.9092855};
__constant__ double c_xi[ANGLES] = {0.9092855, 0.3922893, 0.5370966, 0.7467506, 0.3922893, 0.4921100, 0.1389568, 0.3283000};
__constant__ double c_weight[ANGLES] = {0.0176, 0.0188, 0.0139, 0.0103, 0.0155, 0.0141, 0.0176, 0.0172};

extern "C" __global__ void sn_clear(double *__restrict__ a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        a[i] = 0.0;
}

extern "C" __global__ void sn_plane(const int *__restrict__ plane_cells, int first, int count, int octant,
                                    const double *__restrict__ total, const double *__restrict__ source,
                                    double *__restrict__ psi_x, double *__restrict__ psi_y, double *__restrict__ psi_z,
                                    double *__restrict__ phi, Box box) {
    const int angle = threadIdx.x;
    const int t = blockIdx.x * blockDim.y + threadIdx.y;
    double share = 0.0;
    size_t cell = 0;
    if (t < count) {
        const int packed = plane_cells[first + t];
        int i = packed % box.nx, j = packed / box.nx % box.ny, k = packed / (box.nx * box.ny);
        if (octant & 1) i = box.nx - 1 - i;
        if (octant & 2) j = box.ny - 1 - j;
        if (octant & 4) k = box.nz - 1 - k;
        cell = ((size_t)k * box.ny + j) * box.nx + i;
        double &x = psi_x[((size_t)k * box.ny + j) * ANGLES + angle];
        double &y = psi_y[((size_t)k * box.nx + i) * ANGLES + angle];
        double &z = psi_z[((size_t)j * box.nx + i) * ANGLES + angle];
        const double a = c_mu[angle] * box.ix, b = c_eta[angle] * box.iy, c = c_xi[angle] * box.iz;
        const double psi = (source[cell] + a * x + b * y + c * z) / (total[cell] + a + b + c);
        x = fmax(2.0 * psi - x, 0.0);
        y = fmax(2.0 * psi - y, 0.0);
        z = fmax(2.0 * psi - z, 0.0);
        share = c_weight[angle] * psi;
    }
    for (int offset = ANGLES / 2; offset > 0; offset >>= 1)
        share += __shfl_down_sync(0xffffffffu, share, offset, ANGLES);
    if (angle == 0 && t < count)
        phi[cell] += share;
}

extern "C" __global__ void sn_source(const double *__restrict__ fixed, const double *__restrict__ scatter,
                                     const double *__restrict__ phi, double *__restrict__ source, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        source[i] = fixed[i] + scatter[i] * phi[i];
}

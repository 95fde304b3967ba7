// A step of the heat equation in three dimensions, in double; nothing flows through the walls.
extern "C" __global__ void heat3d(const double *u, double *next, size_t nx, size_t ny, size_t nz, double k) {
    size_t x = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t y = (size_t)blockIdx.y * blockDim.y + threadIdx.y;
    size_t z = (size_t)blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    size_t i = (z * ny + y) * nx + x;
    double here = u[i], flow = 0.0;
    if (x > 0)
        flow += u[i - 1] - here;
    if (x < nx - 1)
        flow += u[i + 1] - here;
    if (y > 0)
        flow += u[i - nx] - here;
    if (y < ny - 1)
        flow += u[i + nx] - here;
    if (z > 0)
        flow += u[i - nx * ny] - here;
    if (z < nz - 1)
        flow += u[i + nx * ny] - here;
    next[i] = here + k * flow;
}

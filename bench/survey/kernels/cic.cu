// Particles in cells: charges are put on a periodic grid (each on the four points around it, by atomics), the
// field is the potential's gradient, and particles move by what the field is between the points.
extern "C" __global__ void deposit(const float *x, const float *y, float *density, int n, int nx, int ny,
                                   float inv_cell, float charge) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    float gx = x[p] * inv_cell, gy = y[p] * inv_cell;
    int ix = (int)floorf(gx), iy = (int)floorf(gy);
    float fx = gx - ix, fy = gy - iy;
    ix = ix % nx;
    iy = iy % ny;
    int ix1 = (ix + 1) % nx, iy1 = (iy + 1) % ny;
    atomicAdd(&density[iy * nx + ix], charge * (1.0f - fx) * (1.0f - fy));
    atomicAdd(&density[iy * nx + ix1], charge * fx * (1.0f - fy));
    atomicAdd(&density[iy1 * nx + ix], charge * (1.0f - fx) * fy);
    atomicAdd(&density[iy1 * nx + ix1], charge * fx * fy);
}

extern "C" __global__ void gradient(const float *potential, float2 *field, int nx, int ny, float inv_cell) {
    int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ix >= nx || iy >= ny)
        return;
    int left = ix == 0 ? nx - 1 : ix - 1, right = ix == nx - 1 ? 0 : ix + 1;
    int down = iy == 0 ? ny - 1 : iy - 1, up = iy == ny - 1 ? 0 : iy + 1;
    float ex = 0.5f * inv_cell * (potential[iy * nx + left] - potential[iy * nx + right]);
    float ey = 0.5f * inv_cell * (potential[down * nx + ix] - potential[up * nx + ix]);
    field[iy * nx + ix] = make_float2(ex, ey);
}

extern "C" __global__ void push(float *x, float *y, float *vx, float *vy, const float2 *field, int n, int nx, int ny,
                                float inv_cell, float charge, float dt) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    float gx = x[p] * inv_cell, gy = y[p] * inv_cell;
    int ix = (int)floorf(gx), iy = (int)floorf(gy);
    float fx = gx - ix, fy = gy - iy;
    ix = ix % nx;
    iy = iy % ny;
    int ix1 = (ix + 1) % nx, iy1 = (iy + 1) % ny;
    float2 e00 = field[iy * nx + ix], e10 = field[iy * nx + ix1];
    float2 e01 = field[iy1 * nx + ix], e11 = field[iy1 * nx + ix1];
    float ex = (1.0f - fy) * ((1.0f - fx) * e00.x + fx * e10.x) + fy * ((1.0f - fx) * e01.x + fx * e11.x);
    float ey = (1.0f - fy) * ((1.0f - fx) * e00.y + fx * e10.y) + fy * ((1.0f - fx) * e01.y + fx * e11.y);

    float lx = nx / inv_cell, ly = ny / inv_cell;
    vx[p] += charge * ex * dt;
    vy[p] += charge * ey * dt;
    float px = x[p] + vx[p] * dt, py = y[p] + vy[p] * dt;
    if (px < 0.0f)
        px += lx;
    if (px >= lx)
        px -= lx;
    if (py < 0.0f)
        py += ly;
    if (py >= ly)
        py -= ly;
    x[p] = px;
    y[p] = py;
}

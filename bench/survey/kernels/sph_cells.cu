// Densities of particles by smoothing over neighbours, which lists of cells find: counts, a scan by one CTA, a sort
// into cells, and sums over the 27 cells around each particle.
__device__ int3 cell_of(float4 p, float inv_h, int nx, int ny, int nz) {
    int x = min(max((int)floorf(p.x * inv_h), 0), nx - 1);
    int y = min(max((int)floorf(p.y * inv_h), 0), ny - 1);
    int z = min(max((int)floorf(p.z * inv_h), 0), nz - 1);
    return make_int3(x, y, z);
}

extern "C" __global__ void count_cells(const float4 *position, int *cell, int *count, int n, float inv_h, int nx, int ny,
                                       int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int3 c = cell_of(position[i], inv_h, nx, ny, nz);
    int index = (c.z * ny + c.y) * nx + c.x;
    cell[i] = index;
    atomicAdd(&count[index], 1);
}

// One CTA: each thread sums a stretch of cells, the sums are scanned, each stretch gets its places.
extern "C" __global__ void scan_cells(const int *count, int *start, int *cursor, int cells) {
    __shared__ int sums[1024];
    int tid = threadIdx.x;
    int stretch = (cells + blockDim.x - 1) / blockDim.x;
    int begin = min(tid * stretch, cells), end = min(begin + stretch, cells);
    int sum = 0;
    for (int i = begin; i < end; i++)
        sum += count[i];
    sums[tid] = sum;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int below = tid >= d ? sums[tid - d] : 0;
        __syncthreads();
        sums[tid] += below;
        __syncthreads();
    }
    int place = sums[tid] - sum;
    for (int i = begin; i < end; i++) {
        start[i] = cursor[i] = place;
        place += count[i];
    }
    if (tid == blockDim.x - 1)
        start[cells] = sums[tid];
}

extern "C" __global__ void scatter_cells(const float4 *position, const int *cell, int *cursor, float4 *sorted,
                                         int *original, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int to = atomicAdd(&cursor[cell[i]], 1);
    sorted[to] = position[i];
    original[to] = i;
}

extern "C" __global__ void density(const float4 *sorted, const int *original, const int *start, float *rho,
                                   float *pressure, int n, float h, int nx, int ny, int nz, float stiffness,
                                   float rest) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = sorted[i];
    int3 c = cell_of(p, 1.0f / h, nx, ny, nz);
    float h2 = h * h;
    float sum = 0.0f;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = c.x + dx, y = c.y + dy, z = c.z + dz;
                if (x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz)
                    continue;
                int other = (z * ny + y) * nx + x;
                for (int j = start[other]; j < start[other + 1]; j++) {
                    float4 q = sorted[j];
                    float rx = p.x - q.x, ry = p.y - q.y, rz = p.z - q.z;
                    float r2 = rx * rx + ry * ry + rz * rz;
                    if (r2 < h2) {
                        float d = h2 - r2;
                        sum += q.w * d * d * d;
                    }
                }
            }
    float poly6 = 315.0f / (64.0f * 3.14159265f * powf(h, 9.0f));
    int k = original[i];
    rho[k] = sum * poly6;
    pressure[k] = stiffness * fmaxf(sum * poly6 - rest, 0.0f);
}

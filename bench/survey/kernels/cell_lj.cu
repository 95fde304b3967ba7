// Lennard-Jones forces between particles kept in boxes with room for 32: a CTA of 32 threads for each box, which
// goes through the 27 boxes around it (the whole is periodic) by way of shared memory.
#define ROOM 32

extern "C" __global__ void cell_lj(const float4 *position, const int *count, float4 *force, int nx, int ny, int nz,
                                   float side, float sigma2, float cutoff2) {
    __shared__ float4 near[ROOM];
    int bx = blockIdx.x, by = blockIdx.y, bz = blockIdx.z, me = threadIdx.x;
    int box = (bz * ny + by) * nx + bx;
    bool real = me < count[box];
    float4 p = position[box * ROOM + me];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, energy = 0.0f;
    for (int dz = -1; dz <= 1; dz++) {
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                int x = bx + dx, y = by + dy, z = bz + dz;
                float sx = 0.0f, sy = 0.0f, sz = 0.0f;
                if (x < 0) { x += nx; sx = -nx * side; }
                if (x >= nx) { x -= nx; sx = nx * side; }
                if (y < 0) { y += ny; sy = -ny * side; }
                if (y >= ny) { y -= ny; sy = ny * side; }
                if (z < 0) { z += nz; sz = -nz * side; }
                if (z >= nz) { z -= nz; sz = nz * side; }
                int other = (z * ny + y) * nx + x;
                int n = count[other];
                __syncthreads();
                if (me < n) {
                    float4 q = position[other * ROOM + me];
                    near[me] = make_float4(q.x + sx, q.y + sy, q.z + sz, 0.0f);
                }
                __syncthreads();
                if (real) {
                    for (int j = 0; j < n; j++) {
                        if (other == box && j == me)
                            continue;
                        float rx = p.x - near[j].x, ry = p.y - near[j].y, rz = p.z - near[j].z;
                        float r2 = rx * rx + ry * ry + rz * rz;
                        if (r2 < cutoff2) {
                            float s2 = sigma2 / r2;
                            float s6 = s2 * s2 * s2;
                            float f = 24.0f * s6 * (2.0f * s6 - 1.0f) / r2;
                            fx += f * rx;
                            fy += f * ry;
                            fz += f * rz;
                            energy += 2.0f * s6 * (s6 - 1.0f);
                        }
                    }
                }
            }
        }
    }
    if (real)
        force[box * ROOM + me] = make_float4(fx, fy, fz, energy);
}

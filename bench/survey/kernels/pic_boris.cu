// A step of particles in a plane with electric and magnetic fields: fields from the four nearest nodes, Boris' pusher,
// periodic borders, and currents and charges onto nodes by atomics in a CTA's own tile where it has the node, in
// global memory elsewhere. Particles are in the order of tiles, but some have left theirs.
#define TILE 16
#define HALO 2
#define SIDE (TILE + 2 * HALO + 1)

struct Particle {
    float x, y;
    float ux, uy, uz;
    float weight;
};

struct Field {
    float3 e;
    float bz;
};

struct Grid {
    int nx, ny;
    float dt, charge_to_mass;
};

__device__ __forceinline__ int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

__device__ Field gather(const float4 *__restrict__ fields, float x, float y, const Grid grid) {
    const int ix = (int)floorf(x), iy = (int)floorf(y);
    const float fx = x - ix, fy = y - iy;
    Field f = {{0.0f, 0.0f, 0.0f}, 0.0f};
#pragma unroll
    for (int dy = 0; dy < 2; dy++)
#pragma unroll
        for (int dx = 0; dx < 2; dx++) {
            const float w = (dx ? fx : 1.0f - fx) * (dy ? fy : 1.0f - fy);
            const float4 v = fields[wrap(iy + dy, grid.ny) * grid.nx + wrap(ix + dx, grid.nx)];
            f.e.x += w * v.x;
            f.e.y += w * v.y;
            f.e.z += w * v.z;
            f.bz += w * v.w;
        }
    return f;
}

__device__ void boris(Particle &p, const Field &f, const Grid grid) {
    const float half = 0.5f * grid.dt * grid.charge_to_mass;
    float ux = p.ux + half * f.e.x, uy = p.uy + half * f.e.y, uz = p.uz + half * f.e.z;
    const float gamma = sqrtf(1.0f + ux * ux + uy * uy + uz * uz);
    const float t = half * f.bz / gamma, s = 2.0f * t / (1.0f + t * t);
    const float vx = ux + uy * t, vy = uy - ux * t;
    ux += vy * s;
    uy -= vx * s;
    p.ux = ux + half * f.e.x;
    p.uy = uy + half * f.e.y;
    p.uz = uz + half * f.e.z;
    const float inverse = grid.dt * rsqrtf(1.0f + p.ux * p.ux + p.uy * p.uy + p.uz * p.uz);
    p.x += p.ux * inverse;
    p.y += p.uy * inverse;
}

extern "C" __global__ void push_deposit(Particle *__restrict__ particles, const int *__restrict__ tile_start,
                                        const float4 *__restrict__ fields, float *__restrict__ rho,
                                        float *__restrict__ jx, float *__restrict__ jy, float *__restrict__ jz,
                                        int nx, int ny, float dt, float charge_to_mass) {
    __shared__ float sums[4][SIDE][SIDE];
    const Grid grid = {nx, ny, dt, charge_to_mass};
    float *const outs[4] = {rho, jx, jy, jz};
    for (int i = threadIdx.x; i < 4 * SIDE * SIDE; i += blockDim.x)
        (&sums[0][0][0])[i] = 0.0f;
    __syncthreads();

    const int tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int x0 = blockIdx.x * TILE - HALO, y0 = blockIdx.y * TILE - HALO;
    for (int i = tile_start[tile] + threadIdx.x; i < tile_start[tile + 1]; i += blockDim.x) {
        Particle p = particles[i];
        const Field f = gather(fields, p.x, p.y, grid);
        boris(p, f, grid);

        const int ix = (int)floorf(p.x), iy = (int)floorf(p.y);
        const float fx = p.x - ix, fy = p.y - iy;
        const float v = p.weight * rsqrtf(1.0f + p.ux * p.ux + p.uy * p.uy + p.uz * p.uz);
        const float values[4] = {p.weight, v * p.ux, v * p.uy, v * p.uz};
        for (int corner = 0; corner < 4; corner++) {
            const int dx = corner & 1, dy = corner >> 1;
            const float w = (dx ? fx : 1.0f - fx) * (dy ? fy : 1.0f - fy);
            const int tx = ix + dx - x0, ty = iy + dy - y0;
            if (tx >= 0 && tx < SIDE && ty >= 0 && ty < SIDE) {
                for (int k = 0; k < 4; k++)
                    atomicAdd(&sums[k][ty][tx], w * values[k]);
            } else {
                const int node = wrap(iy + dy, ny) * nx + wrap(ix + dx, nx);
                for (int k = 0; k < 4; k++)
                    atomicAdd(&outs[k][node], w * values[k]);
            }
        }
        if (p.x < 0.0f)
            p.x += nx;
        else if (p.x >= nx)
            p.x -= nx;
        if (p.y < 0.0f)
            p.y += ny;
        else if (p.y >= ny)
            p.y -= ny;
        particles[i] = p;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        const int tx = i % SIDE, ty = i / SIDE;
        const int node = wrap(y0 + ty, ny) * nx + wrap(x0 + tx, nx);
        for (int k = 0; k < 4; k++)
            if (sums[k][ty][tx] != 0.0f)
                atomicAdd(&outs[k][node], sums[k][ty][tx]);
    }
}

// Marching tetrahedra: each cube of a grid of signed distances is six tetrahedra around its diagonal; triangles are
// counted, places come from a scan by one block, and vertices lie where edges cross zero.
__constant__ signed char TRIANGLES[16][6] = {
    {-1, -1, -1, -1, -1, -1}, {0, 1, 2, -1, -1, -1}, {0, 4, 3, -1, -1, -1}, {1, 2, 4, 1, 4, 3},
    {1, 3, 5, -1, -1, -1},    {0, 3, 5, 0, 5, 2},    {0, 4, 5, 0, 5, 1},    {2, 4, 5, -1, -1, -1},
    {2, 5, 4, -1, -1, -1},    {0, 1, 5, 0, 5, 4},    {0, 2, 5, 0, 5, 3},    {1, 5, 3, -1, -1, -1},
    {1, 3, 4, 1, 4, 2},       {0, 3, 4, -1, -1, -1}, {0, 2, 1, -1, -1, -1}, {-1, -1, -1, -1, -1, -1},
};
__constant__ unsigned char COUNT[16] = {0, 1, 1, 2, 1, 2, 2, 1, 1, 2, 2, 1, 2, 1, 1, 0};
__constant__ unsigned char EDGE[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
__constant__ unsigned char TET[6][4] = {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7},
                                        {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};

struct Grid {
    int x, y, z;  // vertices
    float cell;
};

__device__ __forceinline__ int3 cube_of(int i, const Grid &g) {
    int cx = g.x - 1, cy = g.y - 1;
    return make_int3(i % cx, i / cx % cy, i / (cx * cy));
}

__device__ __forceinline__ int3 corner(int3 cube, int k) {
    return make_int3(cube.x + (k & 1), cube.y + (k >> 1 & 1), cube.z + (k >> 2));
}

__device__ __forceinline__ float at(const float *sdf, const Grid &g, int3 p) {
    return sdf[(p.z * g.y + p.y) * g.x + p.x];
}

__device__ int tet_index(const float *sdf, const Grid &g, int3 cube, int tet) {
    int index = 0;
#pragma unroll
    for (int v = 0; v < 4; v++)
        if (at(sdf, g, corner(cube, TET[tet][v])) < 0.0f)
            index |= 1 << v;
    return index;
}

extern "C" __global__ void tets_count(const float *__restrict__ sdf, Grid g, int cubes, int *__restrict__ counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cubes)
        return;
    int3 cube = cube_of(i, g);
    int n = 0;
    for (int tet = 0; tet < 6; tet++)
        n += COUNT[tet_index(sdf, g, cube, tet)];
    counts[i] = n;
}

extern "C" __global__ __launch_bounds__(1024) void tets_scan(const int *__restrict__ counts, int n,
                                                             int *__restrict__ places, int *__restrict__ total) {
    __shared__ int sums[32];
    __shared__ int carry;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0)
        carry = 0;
    __syncthreads();
    for (int first = 0; first < n; first += blockDim.x) {
        int i = first + threadIdx.x, v = i < n ? counts[i] : 0, x = v;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            int y = __shfl_up_sync(0xffffffffu, x, d);
            if (lane >= d)
                x += y;
        }
        if (lane == 31)
            sums[warp] = x;
        __syncthreads();
        if (warp == 0) {
            int s = lane < blockDim.x / 32 ? sums[lane] : 0;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                int y = __shfl_up_sync(0xffffffffu, s, d);
                if (lane >= d)
                    s += y;
            }
            sums[lane] = s;
        }
        __syncthreads();
        int before = carry + (warp > 0 ? sums[warp - 1] : 0);
        if (i < n)
            places[i] = before + x - v;
        __syncthreads();
        if (threadIdx.x == 0)
            carry += sums[blockDim.x / 32 - 1];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *total = carry;
}

__device__ float3 crossing(const float *sdf, const Grid &g, int3 a, int3 b) {
    float va = at(sdf, g, a), vb = at(sdf, g, b);
    float t = va / (va - vb);
    return make_float3((a.x + t * (b.x - a.x)) * g.cell, (a.y + t * (b.y - a.y)) * g.cell,
                       (a.z + t * (b.z - a.z)) * g.cell);
}

extern "C" __global__ void tets_emit(const float *__restrict__ sdf, Grid g, int cubes, const int *__restrict__ counts,
                                     const int *__restrict__ places, float3 *__restrict__ triangles, int room) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cubes || counts[i] == 0)
        return;
    int3 cube = cube_of(i, g);
    int place = places[i];
    for (int tet = 0; tet < 6; tet++) {
        int index = tet_index(sdf, g, cube, tet);
        for (int k = 0; k < 6 && TRIANGLES[index][k] >= 0; k += 3) {
            if (place >= room)
                return;
            for (int v = 0; v < 3; v++) {
                int e = TRIANGLES[index][k + v];
                triangles[3 * place + v] = crossing(sdf, g, corner(cube, TET[tet][EDGE[e][0]]),
                                                    corner(cube, TET[tet][EDGE[e][1]]));
            }
            place++;
        }
    }
}

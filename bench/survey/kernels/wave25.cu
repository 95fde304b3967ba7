// Waves in three dimensions, fourth neighbours: a march through z with a column in registers, x and y by a tile.
#define R 4
#define BX 32
#define BY 8

__constant__ float c[R + 1] = {-2.847f, 1.6f, -0.2f, 0.0254f, -0.00178f};

extern "C" __global__ void wave25(const float *__restrict__ now, float *__restrict__ next, int nx, int ny, int nz,
                                  float dt) {
    __shared__ float tile[BY + 2 * R][BX + 2 * R];
    int x = blockIdx.x * BX + threadIdx.x + R, y = blockIdx.y * BY + threadIdx.y + R, plane = nx * ny;
    int tx = threadIdx.x + R, ty = threadIdx.y + R, at = y * nx + x;
    float before[R], after[R], current;
#pragma unroll
    for (int k = 0; k < R; k++)
        before[R - 1 - k] = now[at + k * plane];
    current = now[at + R * plane];
#pragma unroll
    for (int k = 0; k < R; k++)
        after[k] = now[at + (R + 1 + k) * plane];
    at += R * plane;
    for (int z = R; z < nz - R; z++) {
        __syncthreads();
        if (threadIdx.y < R) {
            tile[threadIdx.y][tx] = now[at - R * nx];
            tile[threadIdx.y + BY + R][tx] = now[at + BY * nx];
        }
        if (threadIdx.x < R) {
            tile[ty][threadIdx.x] = now[at - R];
            tile[ty][threadIdx.x + BX + R] = now[at + BX];
        }
        tile[ty][tx] = current;
        __syncthreads();
        float sum = 3 * c[0] * current;
#pragma unroll
        for (int k = 1; k <= R; k++)
            sum += c[k] * (before[k - 1] + after[k - 1] + tile[ty - k][tx] + tile[ty + k][tx] + tile[ty][tx - k] +
                           tile[ty][tx + k]);
        next[at] = 2 * current - next[at] + dt * sum;
#pragma unroll
        for (int k = R - 1; k > 0; k--)
            before[k] = before[k - 1];
        before[0] = current;
        current = after[0];
#pragma unroll
        for (int k = 0; k < R - 1; k++)
            after[k] = after[k + 1];
        at += plane;
        if (z + R + 1 < nz)
            after[R - 1] = now[at + R * plane];
    }
}

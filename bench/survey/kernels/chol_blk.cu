// Cholesky's factor of a matrix by panels of 32 columns, in place, the lower half: a warp for the block on the diagonal,
// a thread a row below it, then tiles of 32 x 32 less the product of two panels, in turn until the end.
#define NB 32

extern "C" __global__ void chol_diag(double *a, int n, int k0, int *info) {
    __shared__ double s[NB][NB + 1];
    const int t = threadIdx.x, width = min(NB, n - k0);
    double *block = a + (size_t)k0 * n + k0;
    for (int r = 0; r < width; r++)
        if (t <= r)
            s[r][t] = block[(size_t)r * n + t];
    __syncwarp();
    for (int j = 0; j < width; j++) {
        double d = s[j][j];
        if (d <= 0.0) {
            if (t == 0)
                *info = k0 + j + 1;
            return;
        }
        d = sqrt(d);
        __syncwarp();
        if (t == j)
            s[j][j] = d;
        else if (t > j && t < width)
            s[t][j] /= d;
        __syncwarp();
        if (t > j && t < width)
            for (int c = j + 1; c <= t; c++)
                s[t][c] -= s[t][j] * s[c][j];
        __syncwarp();
    }
    for (int r = 0; r < width; r++)
        if (t <= r)
            block[(size_t)r * n + t] = s[r][t];
}

// X L' = A for the rows below: a row in registers for each of 64 threads.
extern "C" __global__ void __launch_bounds__(64) chol_panel(double *a, int n, int k0) {
    __shared__ double l[NB][NB];
    for (int i = threadIdx.x; i < NB * NB; i += blockDim.x)
        l[i / NB][i % NB] = a[(size_t)(k0 + i / NB) * n + k0 + i % NB];
    __syncthreads();
    const int row = k0 + NB + blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    double x[NB], *at = a + (size_t)row * n + k0;
#pragma unroll
    for (int j = 0; j < NB; j++)
        x[j] = at[j];
#pragma unroll
    for (int j = 0; j < NB; j++) {
#pragma unroll
        for (int c = 0; c < j; c++)
            x[j] -= x[c] * l[j][c];
        x[j] /= l[j][j];
    }
#pragma unroll
    for (int j = 0; j < NB; j++)
        at[j] = x[j];
}

// 16 x 16 threads, two by two numbers each.
extern "C" __global__ void chol_update(double *a, int n, int k0) {
    if (blockIdx.x > blockIdx.y)
        return;
    __shared__ double p[NB][NB + 1], q[NB][NB + 1];
    const int row0 = k0 + NB + blockIdx.y * NB, col0 = k0 + NB + blockIdx.x * NB;
    const int tx = threadIdx.x, ty = threadIdx.y;
#pragma unroll
    for (int i = 0; i < NB; i += 16)
#pragma unroll
        for (int j = 0; j < NB; j += 16) {
            int r = row0 + ty + i, c = col0 + ty + i;
            p[ty + i][tx + j] = r < n ? a[(size_t)r * n + k0 + tx + j] : 0.0;
            q[ty + i][tx + j] = c < n ? a[(size_t)c * n + k0 + tx + j] : 0.0;
        }
    __syncthreads();
    double s[2][2] = {};
#pragma unroll 8
    for (int k = 0; k < NB; k++) {
        double p0 = p[ty][k], p1 = p[ty + 16][k], q0 = q[tx][k], q1 = q[tx + 16][k];
        s[0][0] += p0 * q0;
        s[0][1] += p0 * q1;
        s[1][0] += p1 * q0;
        s[1][1] += p1 * q1;
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int r = row0 + ty + 16 * i, c = col0 + tx + 16 * j;
            if (r < n && c <= r)
                a[(size_t)r * n + c] -= s[i][j];
        }
}

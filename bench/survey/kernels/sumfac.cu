// The Laplacian of spectral elements (hexahedra of degree 7) without a matrix: values are gathered by a table of
// global numbers, derived along each dimension by sum factorisation (planes in shared memory, columns in registers),
// and scattered with atomics. Then Dirichlet nodes are reset and the energy u . Au is summed up by two kernels.
#define NQ 8

__device__ inline int node(int i, int j, int k) { return (k * NQ + j) * NQ + i; }

extern "C" __global__ void __launch_bounds__(NQ *NQ)
    sumfac_local(const double *__restrict__ u, const int *__restrict__ global_id, const double *__restrict__ geo,
                 const double *__restrict__ derivative, double *__restrict__ w, int elements) {
    __shared__ double s_d[NQ][NQ + 1];
    __shared__ double s_u[NQ][NQ + 1], s_ur[NQ][NQ + 1], s_us[NQ][NQ + 1];
    const int i = threadIdx.x, j = threadIdx.y;
    const int e = blockIdx.x;
    if (e >= elements)
        return;
    const long long base = (long long)e * NQ * NQ * NQ;

    double column[NQ], result[NQ];
    s_d[j][i] = derivative[j * NQ + i];
#pragma unroll
    for (int k = 0; k < NQ; k++) {
        column[k] = u[global_id[base + node(i, j, k)]];
        result[k] = 0.0;
    }

#pragma unroll
    for (int k = 0; k < NQ; k++) {
        __syncthreads();
        s_u[j][i] = column[k];
        const double *g = geo + (base + node(i, j, k)) * 6;
        const double g00 = g[0], g01 = g[1], g02 = g[2], g11 = g[3], g12 = g[4], g22 = g[5];
        __syncthreads();
        double ur = 0.0, us = 0.0, ut = 0.0;
#pragma unroll
        for (int m = 0; m < NQ; m++) {
            ur += s_d[i][m] * s_u[j][m];
            us += s_d[j][m] * s_u[m][i];
            ut += s_d[k][m] * column[m];
        }
        s_ur[j][i] = g00 * ur + g01 * us + g02 * ut;
        s_us[j][i] = g01 * ur + g11 * us + g12 * ut;
        const double along = g02 * ur + g12 * us + g22 * ut;
        __syncthreads();
        double sum = 0.0;
#pragma unroll
        for (int m = 0; m < NQ; m++) {
            sum += s_d[m][i] * s_ur[j][m];
            sum += s_d[m][j] * s_us[m][i];
            result[m] += s_d[k][m] * along;
        }
        result[k] += sum;
    }
#pragma unroll
    for (int k = 0; k < NQ; k++)
        atomicAdd(&w[global_id[base + node(i, j, k)]], result[k]);
}

extern "C" __global__ void sumfac_clear(double *__restrict__ w, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        w[i] = 0.0;
}

extern "C" __global__ void sumfac_mask(double *__restrict__ w, const int *__restrict__ boundary, int count) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < count)
        w[boundary[t]] = 0.0;
}

__device__ double block_sum(double value) {
    __shared__ double warp_sums[32];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0)
        warp_sums[warp] = value;
    __syncthreads();
    value = threadIdx.x < (blockDim.x >> 5) ? warp_sums[lane] : 0.0;
    if (warp == 0)
        for (int offset = 16; offset > 0; offset /= 2)
            value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

extern "C" __global__ void sumfac_dot(const double *__restrict__ u, const double *__restrict__ w,
                                      double *__restrict__ partial, int n) {
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += u[i] * w[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

extern "C" __global__ void sumfac_dot_final(const double *__restrict__ partial, double *__restrict__ out, int n) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *out = sum;
}

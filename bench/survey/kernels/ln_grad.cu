// Gradients of a layer norm in two kernels: of its input by rows, a CTA for each, of gamma and beta by columns.
__device__ float2 block_sums(float2 v) {
    __shared__ float2 parts[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (int offset = 16; offset > 0; offset >>= 1) {
        v.x += __shfl_down_sync(0xffffffff, v.x, offset);
        v.y += __shfl_down_sync(0xffffffff, v.y, offset);
    }
    if (lane == 0)
        parts[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < warps ? parts[lane] : make_float2(0.0f, 0.0f);
        for (int offset = 16; offset > 0; offset >>= 1) {
            v.x += __shfl_down_sync(0xffffffff, v.x, offset);
            v.y += __shfl_down_sync(0xffffffff, v.y, offset);
        }
        if (lane == 0)
            parts[0] = v;
    }
    __syncthreads();
    return parts[0];
}

extern "C" __global__ void ln_grad_input(const float *dy, const float *x, const float *mean, const float *rstd,
                                         const float *gamma, float *dx, int n) {
    const int row = blockIdx.x;
    const float *x_row = x + row * n, *dy_row = dy + row * n;
    float *dx_row = dx + row * n;
    const float mu = mean[row], inv = rstd[row];
    float2 sums = make_float2(0.0f, 0.0f);
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        float g = dy_row[j] * gamma[j];
        sums.x += g;
        sums.y += g * (x_row[j] - mu) * inv;
    }
    sums = block_sums(sums);
    const float scale = 1.0f / n;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        float g = dy_row[j] * gamma[j];
        float norm = (x_row[j] - mu) * inv;
        dx_row[j] = inv * (g - scale * (sums.x + norm * sums.y));
    }
}

extern "C" __global__ void ln_grad_weights(const float *dy, const float *x, const float *mean, const float *rstd,
                                           float *dgamma, float *dbeta, int m, int n) {
    __shared__ float gs[8][33], bs[8][33];
    const int column = blockIdx.x * 32 + threadIdx.x;
    float g = 0.0f, b = 0.0f;
    if (column < n) {
        for (int row = threadIdx.y; row < m; row += 8) {
            float d = dy[row * n + column];
            g += d * (x[row * n + column] - mean[row]) * rstd[row];
            b += d;
        }
    }
    gs[threadIdx.y][threadIdx.x] = g;
    bs[threadIdx.y][threadIdx.x] = b;
    __syncthreads();
    for (int half = 4; half > 0; half /= 2) {
        if (threadIdx.y < half) {
            gs[threadIdx.y][threadIdx.x] += gs[threadIdx.y + half][threadIdx.x];
            bs[threadIdx.y][threadIdx.x] += bs[threadIdx.y + half][threadIdx.x];
        }
        __syncthreads();
    }
    if (threadIdx.y == 0 && column < n) {
        dgamma[column] = gs[0][threadIdx.x];
        dbeta[column] = bs[0][threadIdx.x];
    }
}

// RMS norm and its backward pass: a block per row by float4, block reductions by warps, the weight's gradient in two
// stages over strips of rows.
template <int THREADS> __device__ __forceinline__ float block_sum(float v) {
    __shared__ float parts[THREADS / 32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, mask, 32);
    __syncthreads();
    if (lane == 0)
        parts[warp] = v;
    __syncthreads();
    v = lane < THREADS / 32 ? parts[lane] : 0.0f;
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, mask, 32);
    return v;
}

extern "C" __global__ void __launch_bounds__(128)
    rms_forward(const float4 *__restrict__ x, const float4 *__restrict__ weight, float4 *__restrict__ y,
                float *__restrict__ rstd, int vectors, float eps) {
    const float4 *row = x + (long long)blockIdx.x * vectors;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 v = row[i];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    sum = block_sum<128>(sum);
    float scale = rsqrtf(sum / (4 * vectors) + eps);
    if (threadIdx.x == 0)
        rstd[blockIdx.x] = scale;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 v = row[i], w = weight[i];
        y[(long long)blockIdx.x * vectors + i] =
            make_float4(v.x * scale * w.x, v.y * scale * w.y, v.z * scale * w.z, v.w * scale * w.w);
    }
}

extern "C" __global__ void __launch_bounds__(128)
    rms_grad_x(const float4 *__restrict__ dy, const float4 *__restrict__ x, const float4 *__restrict__ weight,
               const float *__restrict__ rstd, float4 *__restrict__ dx, int vectors) {
    long long base = (long long)blockIdx.x * vectors;
    float s = rstd[blockIdx.x];
    float dot = 0.0f;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 v = x[base + i], g = dy[base + i], w = weight[i];
        dot += g.x * w.x * v.x + g.y * w.y * v.y + g.z * w.z * v.z + g.w * w.w * v.w;
    }
    dot = block_sum<128>(dot);
    float k = dot * s * s * s / (4 * vectors);
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 v = x[base + i], g = dy[base + i], w = weight[i], d;
        d.x = g.x * w.x * s - v.x * k;
        d.y = g.y * w.y * s - v.y * k;
        d.z = g.z * w.z * s - v.z * k;
        d.w = g.w * w.w * s - v.w * k;
        dx[base + i] = d;
    }
}

// A block has 32 columns and a strip of rows; 8 warps go down it.
extern "C" __global__ void rms_part_w(const float *__restrict__ dy, const float *__restrict__ x,
                                      const float *__restrict__ rstd, float *__restrict__ part, int rows, int hidden,
                                      int strip) {
    __shared__ float tile[8][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    int end = min(rows, (int)(blockIdx.y + 1) * strip);
    float sum = 0.0f;
    if (col < hidden) {
#pragma unroll 4
        for (int r = blockIdx.y * strip + threadIdx.y; r < end; r += blockDim.y)
            sum += dy[(long long)r * hidden + col] * x[(long long)r * hidden + col] * rstd[r];
    }
    tile[threadIdx.y][threadIdx.x] = sum;
    for (int offset = blockDim.y / 2; offset > 0; offset /= 2) {
        __syncthreads();
        if (threadIdx.y < offset)
            tile[threadIdx.y][threadIdx.x] += tile[threadIdx.y + offset][threadIdx.x];
    }
    if (threadIdx.y == 0 && col < hidden)
        part[(long long)blockIdx.y * hidden + col] = tile[0][threadIdx.x];
}

extern "C" __global__ void rms_final_w(const float *__restrict__ part, float *__restrict__ dw, int strips,
                                       int hidden) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= hidden)
        return;
    float sum = 0.0f;
    for (int s = 0; s < strips; s++)
        sum += part[(long long)s * hidden + col];
    dw[col] = sum;
}

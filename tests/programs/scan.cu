// Inclusive prefix sum of any length: warps by shuffles, CTAs through shared memory, then the CTAs' offsets.
__device__ int scan_warp(int value)
{
    int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        int below = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset)
            value += below;
    }
    return value;
}

// Scans each CTA's part. The CTA's size is a multiple of 32. totals may be null.
extern "C" __global__ void scan_blocks(const int *values, int *result, int *totals, int n)
{
    __shared__ int warp_total[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int value = scan_warp(i < n ? values[i] : 0);
    if (lane == 31)
        warp_total[warp] = value;
    __syncthreads();
    if (warp == 0)
        warp_total[lane] = scan_warp(lane < blockDim.x / 32 ? warp_total[lane] : 0);
    __syncthreads();
    if (warp > 0)
        value += warp_total[warp - 1];
    if (i < n)
        result[i] = value;
    if (totals && threadIdx.x == blockDim.x - 1)
        totals[blockIdx.x] = value;
}

extern "C" __global__ void add_offsets(int *result, const int *scanned_totals, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        result[i] += scanned_totals[blockIdx.x - 1];
}

// The textbook double-buffered scan of one CTA in shared memory, in single precision.
extern "C" __global__ void scan_ping_pong(const float *values, float *result, int n)
{
    __shared__ float buffer[2][256];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = t < n ? values[t] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        buffer[1 - from][t] = t >= offset ? buffer[from][t] + buffer[from][t - offset] : buffer[from][t];
        from = 1 - from;
        __syncthreads();
    }
    if (t < n)
        result[t] = buffer[from][t];
}

// A sum with everything unrolled by templates; the last warp goes by volatile shared memory.
template <unsigned SIZE>
__device__ void last_warp(volatile double *s, unsigned tid) {
    if (SIZE >= 64) s[tid] += s[tid + 32];
    if (SIZE >= 32) s[tid] += s[tid + 16];
    if (SIZE >= 16) s[tid] += s[tid + 8];
    if (SIZE >= 8) s[tid] += s[tid + 4];
    if (SIZE >= 4) s[tid] += s[tid + 2];
    if (SIZE >= 2) s[tid] += s[tid + 1];
}

template <unsigned SIZE>
__device__ void reduce(const double *in, double *out, unsigned n) {
    __shared__ double s[SIZE + 32];
    unsigned tid = threadIdx.x, i = blockIdx.x * SIZE * 2 + tid, step = SIZE * 2 * gridDim.x;
    double sum = 0;
    while (i < n) {
        sum += in[i];
        if (i + SIZE < n)
            sum += in[i + SIZE];
        i += step;
    }
    s[tid] = sum;
    __syncthreads();
    if (SIZE >= 512) { if (tid < 256) s[tid] += s[tid + 256]; __syncthreads(); }
    if (SIZE >= 256) { if (tid < 128) s[tid] += s[tid + 128]; __syncthreads(); }
    if (SIZE >= 128) { if (tid < 64) s[tid] += s[tid + 64]; __syncthreads(); }
    if (tid < 32)
        last_warp<SIZE>(s, tid);
    if (tid == 0)
        out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce256(const double *in, double *out, unsigned n) { reduce<256>(in, out, n); }

// counts of 4-bit digits per block, then ranks by ballots
extern "C" __global__ void count(const unsigned *k, int *c, int shift, int blocks) {
    __shared__ int h[16];
    if (threadIdx.x < 16)
        h[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&h[(k[blockIdx.x * 256 + threadIdx.x] >> shift) & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        c[threadIdx.x * blocks + blockIdx.x] = h[threadIdx.x];
}

extern "C" __global__ void scan(int *c, int n) { // one block of 1024
    __shared__ int w[32];
    __shared__ int carry;
    int l = threadIdx.x & 31, wi = threadIdx.x >> 5;
    if (threadIdx.x == 0)
        carry = 0;
    __syncthreads();
    for (int b = 0; b < n; b += 1024) {
        int v = c[b + threadIdx.x], s = v;
        for (int o = 1; o < 32; o *= 2) {
            int t = __shfl_up_sync(~0u, s, o);
            if (l >= o)
                s += t;
        }
        if (l == 31)
            w[wi] = s;
        __syncthreads();
        if (wi == 0) {
            int t = w[l], u = t;
            for (int o = 1; o < 32; o *= 2) {
                int q = __shfl_up_sync(~0u, u, o);
                if (l >= o)
                    u += q;
            }
            w[l] = u - t;
        }
        __syncthreads();
        int base = carry;
        c[b + threadIdx.x] = base + w[wi] + s - v;
        __syncthreads();
        if (threadIdx.x == 1023)
            carry = base + w[wi] + s;
        __syncthreads();
    }
}

extern "C" __global__ void scatter(const unsigned *k, unsigned *o, const int *c, int shift, int blocks) {
    __shared__ int h[8][16];
    int l = threadIdx.x & 31, w = threadIdx.x >> 5;
    unsigned key = k[blockIdx.x * 256 + threadIdx.x], d = (key >> shift) & 15;
    unsigned m = ~0u;
#pragma unroll
    for (int b = 0; b < 4; b++) {
        unsigned v = __ballot_sync(~0u, (d >> b) & 1);
        m &= (d >> b) & 1 ? v : ~v;
    }
    int rank = __popc(m & ((1u << l) - 1));
    if (l < 16)
        h[w][l] = 0;
    __syncwarp();
    if (rank == 0)
        h[w][d] = __popc(m);
    __syncthreads();
    int s = c[d * blocks + blockIdx.x];
    for (int i = 0; i < w; i++)
        s += h[i][d];
    o[s + rank] = key;
}

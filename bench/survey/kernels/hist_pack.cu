// A histogram of bytes: in shared memory two counters of 16 bits share a word, a copy for each of the six warps; no
// block sees more than 49152 bytes, so none overflows. A second kernel sums what the blocks found.
#define WARPS 6
#define THREADS (WARPS * 32)
#define ROUNDS 16

__device__ __forceinline__ void count4(unsigned *bins, unsigned word) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned b = word & 255u;
        atomicAdd(&bins[b >> 1], b & 1u ? 0x10000u : 1u);
        word >>= 8;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) hist_pack(const unsigned char *__restrict__ bytes,
                                                               unsigned *__restrict__ partial, long long n) {
    __shared__ unsigned bins[WARPS][128];
    for (int i = threadIdx.x; i < WARPS * 128; i += THREADS)
        (&bins[0][0])[i] = 0;
    __syncthreads();

    unsigned *mine = bins[threadIdx.x / 32];
    const uint4 *words = reinterpret_cast<const uint4 *>(bytes);
    const long long whole = n / 16, first = (long long)blockIdx.x * THREADS * ROUNDS;
    for (int r = 0; r < ROUNDS; r++) {
        long long at = first + r * THREADS + threadIdx.x;
        if (at < whole) {
            uint4 v = words[at];
            count4(mine, v.x);
            count4(mine, v.y);
            count4(mine, v.z);
            count4(mine, v.w);
        } else if (at == whole) {
            for (long long i = whole * 16; i < n; i++)
                atomicAdd(&mine[bytes[i] >> 1], bytes[i] & 1 ? 0x10000u : 1u);
        }
    }
    __syncthreads();

    if (threadIdx.x < 128) {
        unsigned even = 0, odd = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            even += bins[w][threadIdx.x] & 0xffffu;
            odd += bins[w][threadIdx.x] >> 16;
        }
        reinterpret_cast<uint2 *>(partial + blockIdx.x * 256)[threadIdx.x] = make_uint2(even, odd);
    }
}

// A block a bin.
extern "C" __global__ void hist_sum(const unsigned *__restrict__ partial, unsigned *__restrict__ histogram, int parts) {
    __shared__ unsigned sums[128];
    unsigned sum = 0;
    for (int i = threadIdx.x; i < parts; i += 128)
        sum += partial[i * 256 + blockIdx.x];
    sums[threadIdx.x] = sum;
    for (int half = 64; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        histogram[blockIdx.x] = sums[0];
}

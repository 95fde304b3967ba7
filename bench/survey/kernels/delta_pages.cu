// Decodes a column of 64-bit times in the manner of Parquet's DELTA_BINARY_PACKED: a block for each page of 256
// values in 4 mini-blocks, whose differences have a width of bits each; a scan by warps adds them up.
#define PAGE 256
#define MINI 64
#define WARP 32

struct PageHeader {
    long long base;  // the value before the page's first
    int min_delta;
    unsigned int offset;  // where its words begin
    unsigned char width[PAGE / MINI];
    unsigned int count;
};

__device__ __forceinline__ unsigned int packed_value(const unsigned int *__restrict__ words, int index, int width) {
    if (width == 0)
        return 0;
    int bit = index * width;
    int word = bit >> 5, shift = bit & 31;
    unsigned int low = words[word];
    unsigned int high = shift + width > 32 ? words[word + 1] : 0u;
    unsigned int value = __funnelshift_r(low, high, shift);
    return width == 32 ? value : value & ((1u << width) - 1u);
}

__device__ __forceinline__ long long warp_scan(long long value, int lane) {
#pragma unroll
    for (int offset = 1; offset < WARP; offset *= 2) {
        long long other = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset)
            value += other;
    }
    return value;
}

template <int WARPS>
__device__ long long block_scan(long long value) {
    __shared__ long long totals[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    long long sum = warp_scan(value, lane);
    if (lane == WARP - 1)
        totals[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        long long total = lane < WARPS ? totals[lane] : 0;
        total = warp_scan(total, lane);
        if (lane < WARPS)
            totals[lane] = total;
    }
    __syncthreads();
    return warp > 0 ? sum + totals[warp - 1] : sum;
}

extern "C" __global__ void __launch_bounds__(PAGE)
    delta_pages(const PageHeader *__restrict__ headers, const unsigned int *__restrict__ words,
                long long *__restrict__ out) {
    __shared__ PageHeader header;
    __shared__ unsigned int mini_start[PAGE / MINI];
    if (threadIdx.x == 0) {
        header = headers[blockIdx.x];
        unsigned int at = header.offset;
        for (int m = 0; m < PAGE / MINI; m++) {
            mini_start[m] = at;
            at += header.width[m] * (MINI / 32);
        }
    }
    __syncthreads();
    int mini = threadIdx.x / MINI;
    unsigned int packed = packed_value(words + mini_start[mini], threadIdx.x % MINI, header.width[mini]);
    long long delta = (long long)header.min_delta + packed;
    long long value = header.base + block_scan<PAGE / WARP>(delta);
    if (threadIdx.x < header.count)
        out[(size_t)blockIdx.x * PAGE + threadIdx.x] = value;
}

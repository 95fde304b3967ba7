// The structural index of JSON lines: where the braces, brackets, colons, commas and beginnings of strings are that are
// not within strings. A thread has 64 bytes and makes masks of 64 bits of them; launches with scans between them.
#define THREADS 128

__device__ __forceinline__ unsigned long long prefix_xor(unsigned long long x) {
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    x ^= x << 32;
    return x;
}

__device__ __forceinline__ unsigned char byte_of(uint4 v, int k) {
    unsigned int word = k < 4 ? v.x : k < 8 ? v.y : k < 12 ? v.z : v.w;
    return (word >> (8 * (k & 3))) & 0xff;
}

// Quotes that no backslash stands before, and whether a block has an odd number of them. `text` is padded with spaces.
extern "C" __global__ void json_quotes(const unsigned char *__restrict__ text, unsigned long long *quotes,
                                       int *block_odd, int words) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long quote = 0;
    if (w < words) {
        long long at = (long long)w * 64;
        bool escaped = false;
        for (long long back = at - 1; back >= 0 && text[back] == '\\'; back--)
            escaped = !escaped;
        const uint4 *vectors = reinterpret_cast<const uint4 *>(text + at);
        for (int v = 0; v < 4; v++) {
            uint4 sixteen = vectors[v];
#pragma unroll
            for (int k = 0; k < 16; k++) {
                unsigned char c = byte_of(sixteen, k);
                if (escaped) {
                    escaped = false;
                } else if (c == '\\') {
                    escaped = true;
                } else if (c == '"') {
                    quote |= 1ull << (16 * v + k);
                }
            }
        }
        quotes[w] = quote;
    }
    int odd = __syncthreads_count(__popcll(quote) & 1);
    if (threadIdx.x == 0)
        block_odd[blockIdx.x] = odd & 1;
}

// Exclusive sums of one list by a single block.
extern "C" __global__ void scan_list(int *list, int n, int *total) {
    __shared__ int sums[1024];
    __shared__ int carry;
    if (threadIdx.x == 0)
        carry = 0;
    __syncthreads();
    for (int first = 0; first < n; first += blockDim.x) {
        int i = first + threadIdx.x;
        int mine = i < n ? list[i] : 0;
        sums[threadIdx.x] = mine;
        __syncthreads();
        for (int offset = 1; offset < blockDim.x; offset *= 2) {
            int other = threadIdx.x >= offset ? sums[threadIdx.x - offset] : 0;
            __syncthreads();
            sums[threadIdx.x] += other;
            __syncthreads();
        }
        if (i < n)
            list[i] = carry + sums[threadIdx.x] - mine;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1)
            carry += sums[threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *total = carry;
}

extern "C" __global__ void json_structure(const unsigned char *__restrict__ text,
                                          const unsigned long long *__restrict__ quotes, const int *odd_before,
                                          unsigned long long *structure, int *block_count, int words) {
    __shared__ unsigned int warp_odd[THREADS / 32];
    __shared__ int count;
    int w = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned long long quote = w < words ? quotes[w] : 0;
    unsigned int odd = __ballot_sync(0xffffffffu, __popcll(quote) & 1);
    if (lane == 0)
        warp_odd[warp] = odd;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    int before = odd_before[blockIdx.x] + __popc(odd & ((1u << lane) - 1));
    for (int k = 0; k < warp; k++)
        before += __popc(warp_odd[k]);
    if (w < words) {
        unsigned long long inside = prefix_xor(quote);
        if (before & 1)
            inside = ~inside;
        unsigned long long marks = 0;
        const uchar4 *bytes = reinterpret_cast<const uchar4 *>(text) + (long long)w * 16;
        auto mark = [&](unsigned char c, int bit) {
            switch (c) {
            case '{':
            case '}':
            case '[':
            case ']':
            case ':':
            case ',':
                marks |= 1ull << bit;
            }
        };
        for (int k = 0; k < 16; k++) {
            uchar4 four = bytes[k];
            mark(four.x, 4 * k);
            mark(four.y, 4 * k + 1);
            mark(four.z, 4 * k + 2);
            mark(four.w, 4 * k + 3);
        }
        unsigned long long mask = (marks & ~inside) | (quote & inside);
        structure[w] = mask;
        atomicAdd(&count, __popcll(mask));
    }
    __syncthreads();
    if (threadIdx.x == 0)
        block_count[blockIdx.x] = count;
}

extern "C" __global__ void json_extract(const unsigned long long *__restrict__ structure,
                                        const int *__restrict__ block_start, unsigned int *index, int words) {
    __shared__ int warp_sum[THREADS / 32];
    int w = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned long long mask = w < words ? structure[w] : 0;
    int mine = __popcll(mask), sum = mine;
    for (int offset = 1; offset < 32; offset <<= 1) {
        int other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset)
            sum += other;
    }
    if (lane == 31)
        warp_sum[warp] = sum;
    __syncthreads();
    int place = block_start[blockIdx.x] + sum - mine;
    for (int k = 0; k < warp; k++)
        place += warp_sum[k];
    while (mask) {
        index[place++] = w * 64 + __ffsll(mask) - 1;
        mask &= mask - 1;
    }
}

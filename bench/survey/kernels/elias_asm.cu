// Posting lists in Elias' gamma code: gaps of 32 documents a thread, written and read bit by bit with the instructions
// that C++ has no names for (bfind, bfe, bfi, shf, lop3). Lengths first, then places, then the bits; and back, with a
// sum that checks.
#include <cstdint>

constexpr int GAPS = 32;

__device__ __forceinline__ int highest_bit(uint32_t v) {
    int r;
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(v));
    return r;
}

__device__ __forceinline__ uint32_t field(uint32_t v, uint32_t at, uint32_t width) {
    uint32_t r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(at), "r"(width));
    return r;
}

__device__ __forceinline__ uint32_t inserted(uint32_t v, uint32_t into, uint32_t at, uint32_t width) {
    uint32_t r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(v), "r"(into), "r"(at), "r"(width));
    return r;
}

__device__ __forceinline__ uint32_t funnel(uint32_t low, uint32_t high, uint32_t by) {
    uint32_t r;
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(by));
    return r;
}

// a ^ b ^ c: 0x96
__device__ __forceinline__ uint32_t parity(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

class BitWriter {
    uint32_t *out, word = 0;
    int used = 0;

public:
    __device__ explicit BitWriter(uint32_t *at) : out(at) {}
    __device__ void put(uint32_t v, int width) {
        while (width > 0) {
            int now = min(width, 32 - used);
            word = inserted(v, word, used, now);
            v = now < 32 ? v >> now : 0;
            used += now;
            width -= now;
            if (used == 32) {
                *out++ = word;
                word = 0;
                used = 0;
            }
        }
    }
    __device__ void flush() {
        if (used)
            *out = word;
    }
};

class BitReader {
    const uint32_t *in;
    uint32_t low, high;
    int at = 0;

public:
    __device__ explicit BitReader(const uint32_t *from) : in(from + 2), low(from[0]), high(from[1]) {}
    __device__ uint32_t peek() const { return funnel(low, high, at); }
    __device__ void skip(int bits) {
        at += bits;
        if (at >= 32) {
            at -= 32;
            low = high;
            high = *in++;
        }
    }
};

extern "C" __global__ void gamma_sizes(const uint32_t *__restrict__ documents, int *__restrict__ words, int lists) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= lists)
        return;
    const uint32_t *d = documents + static_cast<long long>(t) * GAPS;
    uint32_t last = 0;
    int bits = 0;
#pragma unroll 4
    for (int i = 0; i < GAPS; i++) {
        bits += 2 * highest_bit(d[i] - last) + 1;
        last = d[i];
    }
    words[t] = (bits + 31) / 32;
}

extern "C" __global__ void __launch_bounds__(1024) gamma_places(int *words, int lists) {
    __shared__ int sums[32];
    __shared__ int base;
    int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    if (tid == 0)
        base = 0;
    for (int first = 0; first < lists; first += 1024) {
        int i = first + tid, own = i < lists ? words[i] : 0, v = own;
        for (int d = 1; d < 32; d <<= 1) {
            int o = __shfl_up_sync(~0u, v, d);
            v += lane >= d ? o : 0;
        }
        if (lane == 31)
            sums[warp] = v;
        __syncthreads();
        if (warp == 0) {
            int s = sums[lane];
            for (int d = 1; d < 32; d <<= 1) {
                int o = __shfl_up_sync(~0u, s, d);
                s += lane >= d ? o : 0;
            }
            sums[lane] = s;
        }
        __syncthreads();
        int before = base + v - own + (warp ? sums[warp - 1] : 0);
        if (i < lists)
            words[i] = before;
        __syncthreads();
        if (tid == 0)
            base += sums[31];
        __syncthreads();
    }
    if (tid == 0)
        words[lists] = base;
}

extern "C" __global__ void gamma_write(const uint32_t *__restrict__ documents, const int *__restrict__ places,
                                       uint32_t *__restrict__ code, int lists) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= lists)
        return;
    const uint32_t *d = documents + static_cast<long long>(t) * GAPS;
    BitWriter out(code + places[t]);
    uint32_t last = 0;
    for (int i = 0; i < GAPS; i++) {
        uint32_t gap = d[i] - last;
        int n = highest_bit(gap);
        out.put(1u << n, n + 1);  // n zeros, a one
        out.put(gap, n);          // and what is below the highest bit
        last = d[i];
    }
    out.flush();
}

extern "C" __global__ void gamma_read(const uint32_t *__restrict__ code, const int *__restrict__ places,
                                      uint32_t *__restrict__ decoded, uint32_t *__restrict__ check, int lists) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= lists)
        return;
    BitReader in(code + places[t]);
    uint32_t *d = decoded + static_cast<long long>(t) * GAPS, last = 0, sum = 0;
    for (int i = 0; i < GAPS; i++) {
        uint32_t bits = in.peek();
        int n = highest_bit(bits & -bits);
        in.skip(n + 1);
        last += 1u << n | field(in.peek(), 0, n);
        in.skip(n);
        d[i] = last;
        sum = parity(sum, last, sum << 7 | sum >> 25);
    }
    check[t] = sum;
}

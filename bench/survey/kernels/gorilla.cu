// Decodes blocks of a time series as Gorilla packs them (deltas of deltas, xors of doubles), a block a thread.
#include <cstdint>

struct BitReader {
    const uint64_t *words;
    uint64_t at;

    __device__ BitReader(const uint64_t *w, uint64_t bit) : words(w), at(bit) {}

    __device__ uint64_t read(int n) { // 1 to 64 bits, most significant first
        uint64_t w = at >> 6;
        int off = (int)(at & 63);
        uint64_t v = words[w] << off;
        if (off + n > 64)
            v |= words[w + 1] >> (64 - off);
        at += n;
        return v >> (64 - n);
    }
    __device__ bool bit() { return read(1) != 0; }
    __device__ int64_t read_signed(int n) { return (int64_t)(read(n) << (64 - n)) >> (64 - n); }
};

extern "C" __global__ void gorilla(const uint64_t *__restrict__ stream, const uint64_t *__restrict__ start,
                                   int64_t *__restrict__ time, double *__restrict__ value, int blocks, int each) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks)
        return;
    BitReader in(stream, start[b]);
    int64_t t = (int64_t)in.read(64), delta = 0;
    uint64_t bits = in.read(64);
    int leading = 0, length = 64;
    size_t out = (size_t)b * each;
    time[out] = t;
    value[out] = __longlong_as_double((long long)bits);
    for (int i = 1; i < each; i++) {
        int64_t dod = 0;
        if (in.bit()) {
            if (!in.bit())
                dod = in.read_signed(7);
            else if (!in.bit())
                dod = in.read_signed(9);
            else if (!in.bit())
                dod = in.read_signed(12);
            else
                dod = in.read_signed(32);
        }
        delta += dod;
        t += delta;
        if (in.bit()) {
            if (in.bit()) {
                leading = (int)in.read(5);
                length = (int)in.read(6) + 1;
            }
            bits ^= in.read(length) << (64 - leading - length);
        }
        time[out + i] = t;
        value[out + i] = __longlong_as_double((long long)bits);
    }
}

// The spectrum of k-mers of a set of reads: canonical 21-mers go into a table with open addressing by 64-bit CAS, then
// a histogram of how often each occurs. Reads are 2 bits a base, 16 a word; bases unsure have a bit in a mask.
#include <cstdint>
#define K 21
#define EMPTY 0xffffffffffffffffull
#define BINS 64

__device__ __forceinline__ uint64_t mix(uint64_t k) {
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdull;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}

extern "C" __global__ void spec_clear(unsigned long long *keys, unsigned *counts, int slots) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += blockDim.x * gridDim.x) {
        keys[i] = EMPTY;
        counts[i] = 0;
    }
}

// A thread a read: k-mer and reverse complement roll along.
extern "C" __global__ void __launch_bounds__(128)
spec_count(const uint32_t *__restrict__ packed, const uint32_t *__restrict__ unsure,
           const uint16_t *__restrict__ lengths, unsigned long long *keys, unsigned *counts, int reads,
           int words_per_read, unsigned slots) {
    int read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= reads)
        return;
    const uint32_t *bases = packed + (size_t)read * words_per_read;
    const uint32_t *masked = unsure + (size_t)read * ((words_per_read + 1) / 2);
    const uint64_t whole = (1ull << 2 * K) - 1;
    uint64_t forward = 0, backward = 0;
    uint32_t word = 0, mask = 0;
    int valid = 0, length = lengths[read];
    for (int i = 0; i < length; i++) {
        if (i % 16 == 0)
            word = bases[i / 16];
        if (i % 32 == 0)
            mask = masked[i / 32];
        uint64_t base = word & 3;
        bool bad = mask & 1;
        word >>= 2;
        mask >>= 1;
        if (bad) {
            valid = 0;
            continue;
        }
        forward = (forward << 2 | base) & whole;
        backward = backward >> 2 | (3 - base) << 2 * (K - 1);
        if (++valid < K)
            continue;
        uint64_t kmer = forward < backward ? forward : backward;
        unsigned slot = (unsigned)mix(kmer) & (slots - 1);
        for (;;) {
            unsigned long long old = keys[slot];
            if (old == EMPTY)
                old = atomicCAS(&keys[slot], EMPTY, (unsigned long long)kmer);
            if (old == EMPTY || old == kmer) {
                atomicAdd(&counts[slot], 1u);
                break;
            }
            slot = (slot + 1) & (slots - 1);
        }
    }
}

extern "C" __global__ void spec_histogram(const unsigned *__restrict__ counts, unsigned *__restrict__ spectrum,
                                          int slots) {
    __shared__ unsigned local[BINS];
    if (threadIdx.x < BINS)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += blockDim.x * gridDim.x)
        if (unsigned c = counts[i])
            atomicAdd(&local[min(c, BINS - 1u)], 1u);
    __syncthreads();
    if (threadIdx.x < BINS && local[threadIdx.x])
        atomicAdd(&spectrum[threadIdx.x], local[threadIdx.x]);
}

// Minimizers of DNA: of each window of w successive k-mers the one whose canonical form has the smallest hash (the
// leftmost if equal); listed once each, by ballots and one atomic a CTA.
#include <stdint.h>

#define THREADS 256
#define MAX_W 32

__constant__ uint8_t code_of[32] = {4, 0, 4, 1, 4, 4, 4, 2, 4, 4, 4, 4, 4, 4, 4, 4,
                                    4, 4, 4, 4, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};

// Of 2 k bits, without collisions.
__device__ uint32_t mix(uint32_t key, uint32_t mask) {
    key = (~key + (key << 21)) & mask;
    key = key ^ key >> 14;
    key = ((key + (key << 3)) + (key << 8)) & mask;
    key = key ^ key >> 12;
    key = ((key + (key << 2)) + (key << 4)) & mask;
    key = key ^ key >> 15;
    key = (key + (key << 19)) & mask;
    return key;
}

__device__ uint32_t kmer_hash(const char *__restrict__ bases, int length, int at, int k) {
    if (at < 0 || at + k > length)
        return 0xffffffffu;
    uint32_t forward = 0, backward = 0;
    for (int i = 0; i < k; i++) {
        uint32_t c = code_of[bases[at + i] & 31];
        if (c > 3)
            return 0xffffffffu;
        forward = forward << 2 | c;
        backward = backward >> 2 | (3 - c) << (2 * (k - 1));
    }
    if (forward == backward)  // its own complement: no strand
        return 0xffffffffu;
    return mix(min(forward, backward), (1u << 2 * k) - 1);
}

// The place of the smallest of w hashes, -1 if none is valid.
__device__ int smallest(const uint32_t *hashes, int first, int w) {
    uint32_t best = 0xffffffffu;
    int where = -1;
    for (int i = 0; i < w; i++)
        if (hashes[first + i] < best) {
            best = hashes[first + i];
            where = first + i;
        }
    return where;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    minimizers(const char *__restrict__ bases, const int *__restrict__ starts, uint64_t *__restrict__ found,
               int *total, int k, int w, int most) {
    __shared__ uint32_t hashes[THREADS + MAX_W];
    __shared__ int warp_count[THREADS / 32];
    __shared__ int base;
    const int read = blockIdx.y;
    const int start = starts[read], length = starts[read + 1] - start;
    const int windows = length - k - w + 2;
    const int first = blockIdx.x * THREADS;
    if (first >= windows)
        return;
    bases += start;

    // hashes[i] is that of the k-mer at first - 1 + i
    for (int i = threadIdx.x; i < THREADS + w; i += THREADS)
        hashes[i] = kmer_hash(bases, length, first - 1 + i, k);
    __syncthreads();

    const int window = first + threadIdx.x;
    bool is_new = false;
    int where = -1;
    if (window < windows) {
        where = smallest(hashes, threadIdx.x + 1, w);
        const int before = window > 0 ? smallest(hashes, threadIdx.x, w) : -1;
        is_new = where >= 0 && where != before;
    }
    const unsigned mask = __ballot_sync(0xffffffff, is_new);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0)
        warp_count[warp] = __popc(mask);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < THREADS / 32; i++) {
            const int c = warp_count[i];
            warp_count[i] = sum;
            sum += c;
        }
        base = atomicAdd(total, sum);
    }
    __syncthreads();
    if (is_new) {
        const int at = base + warp_count[warp] + __popc(mask & ((1u << lane) - 1));
        if (at < most)
            found[at] = (uint64_t)hashes[where] << 22 | (uint32_t)(start + first - 1 + where);
    }
}

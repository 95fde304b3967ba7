// rANS with 32 interleaved states: a warp decodes a chunk, each lane every 32nd byte. Lanes that need more bits
// take the next 16-bit words in the order of the lanes.
#include <cub/block/block_scan.cuh>
#include <cuda/std/span>
#include <cstdint>

constexpr int kProbBits = 12;
constexpr uint32_t kProbScale = 1u << kProbBits;
constexpr uint32_t kLowerBound = 1u << 16;
constexpr int kWarpsPerBlock = 8;

struct Slot {
    uint32_t packed;  // symbol: 8 bits, frequency: 12, offset in the symbol's range: 12

    Slot() = default;
    __device__ Slot(uint32_t symbol, uint32_t freq, uint32_t bias) : packed(symbol | freq << 8 | bias << 20) {}
    __device__ uint32_t symbol() const { return packed & 0xff; }
    __device__ uint32_t freq() const { return (packed >> 8) & 0xfff; }
    __device__ uint32_t bias() const { return packed >> 20; }
};

__device__ __forceinline__ uint32_t lanemask_lt() {
    uint32_t mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

class WarpDecoder {
  public:
    __device__ WarpDecoder(uint32_t state, cuda::std::span<const uint16_t> words) : state_(state), words_(words) {}

    __device__ uint8_t next(const Slot *table) {
        const Slot slot = table[state_ & (kProbScale - 1)];
        state_ = slot.freq() * (state_ >> kProbBits) + slot.bias();
        const bool renormalise = state_ < kLowerBound;
        const uint32_t ballot = __ballot_sync(0xffffffffu, renormalise);
        if (renormalise)
            state_ = __byte_perm(words_[at_ + __popc(ballot & lanemask_lt())], state_, 0x5410);
        at_ += __popc(ballot);
        return static_cast<uint8_t>(slot.symbol());
    }

  private:
    uint32_t state_;
    cuda::std::span<const uint16_t> words_;
    uint32_t at_ = 0;
};

extern "C" __global__ void __launch_bounds__(32 * kWarpsPerBlock)
    rans32_decode(const uint16_t *__restrict__ freqs, const uint32_t *__restrict__ states,
                  const uint16_t *__restrict__ words, const uint32_t *__restrict__ word_start,
                  uint8_t *__restrict__ out, int chunks, int steps) {
    using Scan = cub::BlockScan<uint32_t, 32 * kWarpsPerBlock>;
    __shared__ typename Scan::TempStorage scan_storage;
    __shared__ Slot table[kProbScale];

    const uint32_t freq = freqs[threadIdx.x];
    uint32_t start;
    Scan(scan_storage).ExclusiveSum(freq, start);
    for (uint32_t k = 0; k < freq; ++k)
        table[start + k] = Slot(threadIdx.x, freq, k);
    __syncthreads();

    const int lane = threadIdx.x % 32;
    const int chunk = blockIdx.x * kWarpsPerBlock + threadIdx.x / 32;
    if (chunk >= chunks)
        return;
    const uint32_t first = word_start[chunk];
    WarpDecoder decoder(states[chunk * 32 + lane],
                        cuda::std::span<const uint16_t>(words + first, word_start[chunk + 1] - first));
    uint8_t *to = out + static_cast<size_t>(chunk) * steps * 32 + lane;
    for (int step = 0; step < steps; ++step, to += 32)
        *to = decoder.next(table);
}

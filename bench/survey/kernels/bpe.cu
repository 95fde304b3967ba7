// Byte-pair encoding of words: a warp a word, a lane a token. The pair that was learned first is joined, until no
// pair is known; the pairs are in a hash table.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/std/cstdint>
#include <cuda/std/optional>

namespace cg = cooperative_groups;

namespace {

constexpr uint32_t kNone = 0xffffffffu;
constexpr int kLanes = 32;

struct MergeTable {
    const ulonglong2 *__restrict__ slots;  // x: the pair, y: its rank
    uint32_t mask;

    __device__ cuda::std::optional<uint32_t> find(uint32_t left, uint32_t right) const {
        const uint64_t key = static_cast<uint64_t>(left) << 32 | right;
        uint64_t h = key * 0x9e3779b97f4a7c15ull;
        for (uint32_t at = static_cast<uint32_t>(h >> 40) & mask;; at = (at + 1) & mask) {
            const ulonglong2 slot = __ldg(slots + at);
            if (slot.x == key)
                return static_cast<uint32_t>(slot.y);
            if (slot.x == ~0ull)
                return cuda::std::nullopt;
        }
    }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(128)
    bpe_words(const uint8_t *__restrict__ text, const int *__restrict__ word_start,
              const ulonglong2 *__restrict__ slots, uint32_t mask, uint16_t *__restrict__ tokens,
              uint8_t *__restrict__ counts, int words) {
    const auto tile = cg::tiled_partition<kLanes>(cg::this_thread_block());
    const MergeTable merges{slots, mask};
    const int lane = tile.thread_rank();
    const int warps = gridDim.x * tile.meta_group_size();
    for (int word = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank(); word < words; word += warps) {
        const int start = word_start[word];
        int length = word_start[word + 1] - start;  // at most 32
        uint32_t token = lane < length ? text[start + lane] : kNone;
        uint32_t rank = kNone;
        bool stale = true;
        while (length > 1) {
            const uint32_t right = tile.shfl_down(token, 1);
            if (stale)
                rank = lane + 1 < length ? merges.find(token, right).value_or(uint32_t{kNone}) : kNone;
            const uint32_t best = cg::reduce(tile, rank, cg::less<uint32_t>());
            if (best == kNone)
                break;
            const int at = __ffs(tile.ballot(rank == best)) - 1;
            const uint32_t next_rank = tile.shfl_down(rank, 1);
            if (lane == at) {
                token = 256 + best;
            } else if (lane > at) {
                token = right;
                rank = next_rank;
            }
            --length;
            if (lane >= length)
                token = rank = kNone;
            stale = lane == at || lane + 1 == at;
        }
        if (lane < length)
            tokens[word * kLanes + lane] = static_cast<uint16_t>(token);
        if (lane == 0)
            counts[word] = static_cast<uint8_t>(length);
    }
}

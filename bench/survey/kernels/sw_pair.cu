// Scores of local alignments (Smith and Waterman, affine gaps) of a protein with those of a database: a thread has
// two sequences, their numbers in the halves of 32-bit words. Eight rows of the query at a time are in registers;
// what the rows below need of them goes through memory.
#include <cstdint>

namespace {

constexpr int kLetters = 24;
constexpr int kStrip = 8;
constexpr int kLongest = 256;  // of the query

// Two 16-bit numbers, added and subtracted with saturation.
struct Pair {
    unsigned bits;

    __device__ Pair() : bits(0) {}
    __device__ explicit Pair(unsigned b) : bits(b) {}
    static __device__ Pair both(int value) { return Pair(__byte_perm(value, value, 0x1010)); }
    static __device__ Pair of(short low, short high) {
        return Pair(__byte_perm(static_cast<unsigned short>(low), static_cast<unsigned short>(high), 0x5410));
    }
    __device__ int low() const { return static_cast<short>(bits & 0xffff); }
    __device__ int high() const { return static_cast<short>(bits >> 16); }
};

__device__ __forceinline__ Pair operator+(Pair a, Pair b) { return Pair(__vaddss2(a.bits, b.bits)); }
__device__ __forceinline__ Pair operator-(Pair a, Pair b) { return Pair(__vsubss2(a.bits, b.bits)); }
__device__ __forceinline__ Pair largest(Pair a) { return a; }
template <class... Rest>
__device__ __forceinline__ Pair largest(Pair a, Rest... rest) {
    return Pair(__vmaxs2(a.bits, largest(rest...).bits));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(64)
    sw_pair(const uint8_t *__restrict__ query, const int8_t *__restrict__ matrix, const uchar2 *__restrict__ database,
            const int2 *__restrict__ lengths, uint2 *__restrict__ border, int2 *__restrict__ scores, int rows,
            int pairs, int open, int extend) {
    __shared__ short profile[kLetters][kLongest];
    const int padded = (rows + kStrip - 1) / kStrip * kStrip;
    for (int i = threadIdx.x; i < kLetters * padded; i += blockDim.x) {
        const int letter = i / padded, row = i % padded;
        profile[letter][row] = matrix[(row < rows ? query[row] : kLetters - 1) * kLetters + letter];
    }
    __syncthreads();
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs)
        return;

    const Pair gap_open = Pair::both(open), gap_extend = Pair::both(extend), zero;
    const int2 length = lengths[pair];
    const int columns = max(length.x, length.y);
    Pair best;
    for (int first = 0; first < padded; first += kStrip) {
        Pair left[kStrip], across[kStrip], corner;
        for (int column = 0; column < columns; ++column) {
            const uchar2 letters = __ldg(database + static_cast<size_t>(column) * pairs + pair);
            uint2 &edge = border[static_cast<size_t>(column) * pairs + pair];
            const uint2 above = first == 0 ? make_uint2(0, 0) : edge;
            Pair up(above.x), down(above.y), diagonal = corner;
            corner = up;
#pragma unroll
            for (int i = 0; i < kStrip; ++i) {
                const Pair score = Pair::of(profile[letters.x][first + i], profile[letters.y][first + i]);
                across[i] = largest(across[i] - gap_extend, left[i] - gap_open);
                down = largest(down - gap_extend, up - gap_open);
                up = largest(diagonal + score, across[i], down, zero);
                best = largest(best, up);
                diagonal = left[i];
                left[i] = up;
            }
            edge = make_uint2(up.bits, down.bits);
        }
    }
    scores[pair] = make_int2(best.low(), best.high());
}

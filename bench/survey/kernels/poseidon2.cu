// A Merkle tree by Poseidon2 over the field of 15 * 2^27 + 1 (BabyBear, Montgomery form): a thread absorbs a row of
// columns-first data 8 numbers at a time; then pairs of digests of 8 are compressed level by level.
#include <stdint.h>
#define WIDTH 16
#define RATE 8
#define DIGEST 8
#define ROUNDS_F 8
#define ROUNDS_P 13

class Bb31 {
    uint32_t val;
    static constexpr uint32_t MOD = 0x78000001u, M = 0x77ffffffu;

  public:
    __device__ __forceinline__ Bb31() {}
    __device__ __forceinline__ explicit Bb31(uint32_t raw) : val(raw) {}
    __device__ __forceinline__ uint32_t raw() const { return val; }
    __device__ __forceinline__ Bb31 &operator+=(Bb31 b) {
        val += b.val;
        if (val >= MOD)
            val -= MOD;
        return *this;
    }
    __device__ __forceinline__ Bb31 &operator*=(Bb31 b) {
        uint64_t product = (uint64_t)val * b.val;
        uint32_t red = (uint32_t)product * M;
        product += (uint64_t)red * MOD;
        val = (uint32_t)(product >> 32);
        if (val >= MOD)
            val -= MOD;
        return *this;
    }
    friend __device__ __forceinline__ Bb31 operator+(Bb31 a, Bb31 b) { return a += b; }
    friend __device__ __forceinline__ Bb31 operator*(Bb31 a, Bb31 b) { return a *= b; }
    __device__ __forceinline__ Bb31 doubled() const { return *this + *this; }
    __device__ __forceinline__ Bb31 pow7() const {
        Bb31 x2 = *this * *this, x3 = x2 * *this;
        return x2 * x2 * x3;
    }
};

struct Constants {
    uint32_t external[ROUNDS_F][WIDTH];
    uint32_t internal[ROUNDS_P];
    uint32_t diagonal[WIDTH];
};

__device__ __forceinline__ void apply_m4(Bb31 *x) {
    Bb31 t01 = x[0] + x[1], t23 = x[2] + x[3], t0123 = t01 + t23;
    Bb31 t01123 = t0123 + x[1], t01233 = t0123 + x[3];
    x[3] = t01233 + x[0].doubled();
    x[1] = t01123 + x[2].doubled();
    x[0] = t01123 + t01;
    x[2] = t01233 + t23;
}

__device__ void external_linear(Bb31 *s) {
#pragma unroll
    for (int i = 0; i < WIDTH; i += 4)
        apply_m4(s + i);
    Bb31 sums[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        sums[k] = s[k] + s[4 + k] + s[8 + k] + s[12 + k];
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
        s[i] += sums[i & 3];
}

__device__ void internal_linear(Bb31 *s, const Constants &c) {
    Bb31 sum = s[0];
#pragma unroll
    for (int i = 1; i < WIDTH; i++)
        sum += s[i];
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
        s[i] = s[i] * Bb31(c.diagonal[i]) + sum;
}

__device__ __noinline__ void permute(Bb31 *s, const Constants &c) {
    external_linear(s);
    for (int r = 0; r < ROUNDS_F / 2; r++) {
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            s[i] = (s[i] + Bb31(c.external[r][i])).pow7();
        external_linear(s);
    }
    for (int r = 0; r < ROUNDS_P; r++) {
        s[0] = (s[0] + Bb31(c.internal[r])).pow7();
        internal_linear(s, c);
    }
    for (int r = ROUNDS_F / 2; r < ROUNDS_F; r++) {
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            s[i] = (s[i] + Bb31(c.external[r][i])).pow7();
        external_linear(s);
    }
}

extern "C" __global__ void poseidon2_rows(const Constants *constants, const uint32_t *__restrict__ columns,
                                          uint32_t *__restrict__ digests, int rows, int width) {
    __shared__ Constants c;
    for (int i = threadIdx.x; i < sizeof(Constants) / 4; i += blockDim.x)
        reinterpret_cast<uint32_t *>(&c)[i] = reinterpret_cast<const uint32_t *>(constants)[i];
    __syncthreads();
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    Bb31 state[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        state[i] = Bb31(0);
    int filled = 0;
    for (int k = 0; k < width; k++) {
        state[filled++] = Bb31(columns[(size_t)k * rows + row]);
        if (filled == RATE) {
            permute(state, c);
            filled = 0;
        }
    }
    if (filled) {
        while (filled < RATE)
            state[filled++] = Bb31(0);
        permute(state, c);
    }
    for (int i = 0; i < DIGEST; i++)
        digests[(size_t)row * DIGEST + i] = state[i].raw();
}

extern "C" __global__ void poseidon2_level(const Constants *constants, uint32_t *tree, int first, int count) {
    __shared__ Constants c;
    for (int i = threadIdx.x; i < sizeof(Constants) / 4; i += blockDim.x)
        reinterpret_cast<uint32_t *>(&c)[i] = reinterpret_cast<const uint32_t *>(constants)[i];
    __syncthreads();
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count)
        return;
    const uint32_t *children = tree + (size_t)first * DIGEST;
    uint32_t *parents = tree + (size_t)(first + 2 * count) * DIGEST;
    Bb31 state[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        state[i] = Bb31(children[(size_t)node * WIDTH + i]);
    permute(state, c);
    for (int i = 0; i < DIGEST; i++)
        parents[(size_t)node * DIGEST + i] = state[i].raw();
}

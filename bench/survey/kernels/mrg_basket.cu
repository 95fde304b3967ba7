// A call on a basket of four shares by Monte Carlo: MRG32k3a, normal numbers by Box and Muller, correlated by a factor in
// constant memory, each path with its mirror image; sums by cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdint.h>

namespace cg = cooperative_groups;

#define ASSETS 4

__constant__ float factor[ASSETS][ASSETS] = {{1.0f, 0.0f, 0.0f, 0.0f},
                                             {0.5f, 0.8660254f, 0.0f, 0.0f},
                                             {0.3f, 0.2309401f, 0.9255629f, 0.0f},
                                             {0.2f, 0.2309401f, 0.0936339f, 0.9474946f}};
__constant__ float weight[ASSETS] = {0.4f, 0.3f, 0.2f, 0.1f};
__constant__ float spot[ASSETS] = {100.0f, 95.0f, 110.0f, 102.0f};
__constant__ float volatility[ASSETS] = {0.20f, 0.25f, 0.30f, 0.35f};

class Mrg32k3a {
    static constexpr uint64_t M1 = 4294967087ull, M2 = 4294944443ull;
    uint64_t x[3], y[3];

    template <unsigned C, int TIMES> // modulo 2^32 - C
    static __device__ __forceinline__ uint64_t fold(uint64_t p) {
        const uint64_t m = 4294967296ull - C;
#pragma unroll
        for (int i = 0; i < TIMES; i++)
            p = (p >> 32) * C + (p & 0xffffffffull);
        return p >= m ? p - m : p;
    }

    static __device__ uint32_t mix(uint32_t &s) {
        s = s * 1664525u + 1013904223u;
        uint32_t v = (s ^ s >> 15) * 0x2c1b3c6du;
        return v ^ v >> 13;
    }

  public:
    __device__ explicit Mrg32k3a(uint32_t seed) {
        for (int i = 0; i < 3; i++)
            x[i] = mix(seed) >> 1 | 1u;
        for (int i = 0; i < 3; i++)
            y[i] = mix(seed) >> 1 | 1u;
    }

    // In (0, 1].
    __device__ float operator()() {
        uint64_t p = fold<209, 1>(1403580ull * x[1]) + M1 - fold<209, 1>(810728ull * x[0]);
        p = p >= M1 ? p - M1 : p;
        x[0] = x[1];
        x[1] = x[2];
        x[2] = p;
        uint64_t q = fold<22853, 2>(527612ull * y[2]) + M2 - fold<22853, 2>(1370589ull * y[0]);
        q = q >= M2 ? q - M2 : q;
        y[0] = y[1];
        y[1] = y[2];
        y[2] = q;
        uint64_t u = p > q ? p - q : p + M1 - q;
        return (float)((uint32_t)(u >> 8) + 1u) * (1.0f / 16777216.0f);
    }
};

__device__ __forceinline__ float payoff(const float (&z)[ASSETS], float sign, float rate, float maturity, float root,
                                        float strike) {
    float basket = 0.0f;
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
        float w = 0.0f;
#pragma unroll
        for (int b = 0; b <= a; b++)
            w += factor[a][b] * z[b];
        float drift = (rate - 0.5f * volatility[a] * volatility[a]) * maturity;
        basket += weight[a] * spot[a] * expf(drift + sign * volatility[a] * root * w);
    }
    return fmaxf(basket - strike, 0.0f);
}

extern "C" __global__ void __launch_bounds__(128) mrg_basket(double2 *sums, int paths, uint32_t seed, float strike,
                                                             float rate, float maturity) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ double2 part[4];
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    Mrg32k3a uniform(seed + id * 2654435761u);
    const float root = sqrtf(maturity);
    double sum = 0.0, square = 0.0;
    for (int p = 0; p < paths; p++) {
        float z[ASSETS];
#pragma unroll
        for (int a = 0; a < ASSETS; a += 2) {
            float r = sqrtf(-2.0f * logf(uniform())), s, c;
            sincosf(6.2831853f * uniform(), &s, &c);
            z[a] = r * c;
            z[a + 1] = r * s;
        }
        float both = 0.5f * (payoff(z, 1.0f, rate, maturity, root, strike) +
                             payoff(z, -1.0f, rate, maturity, root, strike));
        sum += both;
        square += (double)both * both;
    }
    sum = cg::reduce(warp, sum, cg::plus<double>());
    square = cg::reduce(warp, square, cg::plus<double>());
    if (warp.thread_rank() == 0)
        part[warp.meta_group_rank()] = make_double2(sum, square);
    block.sync();
    if (block.thread_rank() == 0) {
        double2 all = part[0];
        for (unsigned w = 1; w < warp.meta_group_size(); w++) {
            all.x += part[w].x;
            all.y += part[w].y;
        }
        double discount = exp(-(double)rate * maturity);
        sums[blockIdx.x] = make_double2(discount * all.x, discount * discount * all.y);
    }
}

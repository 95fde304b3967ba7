// A portfolio of swaptions in the LIBOR market model: a path of 40 forward rates in local arrays for each thread, the
// portfolio's value by paths, and the mean and its error for each block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

#define RATES 40
#define FIXINGS 20
#define OPTIONS 8
#define THREADS 64

struct Swaption {
    int maturity;
    float rate;
};

__constant__ Swaption portfolio[OPTIONS] = {
    {4, 0.045f}, {4, 0.05f}, {8, 0.055f}, {8, 0.05f}, {12, 0.045f}, {12, 0.05f}, {20, 0.055f}, {20, 0.05f},
};

// Rates are moved on through all fixings; a rate that is fixed stays.
__device__ void evolve(float *L, const float *z, const float *lambda, int path, int paths, float delta) {
    float root = sqrtf(delta);
    for (int n = 0; n < FIXINGS; n++) {
        float shock = root * z[n * paths + path], v = 0.0f;
        for (int i = n + 1; i < RATES; i++) {
            float lam = lambda[i - n - 1], con = delta * lam;
            v += con * L[i] / (1.0f + delta * L[i]);
            L[i] *= expf(con * v + lam * (shock - 0.5f * con));
        }
    }
}

__device__ float value(const float *L, float delta) {
    float bond[RATES], annuity[RATES];
    float b = 1.0f, s = 0.0f;
    for (int n = FIXINGS; n < RATES; n++) {
        b /= 1.0f + delta * L[n];
        s += delta * b;
        bond[n] = b;
        annuity[n] = s;
    }
    float v = 0.0f;
    for (int k = 0; k < OPTIONS; k++) {
        int m = FIXINGS + portfolio[k].maturity - 1;
        float swap = bond[m] + portfolio[k].rate * annuity[m] - 1.0f;
        if (swap < 0.0f)
            v -= 100.0f * swap;
    }
    for (int n = 0; n < FIXINGS; n++)
        v /= 1.0f + delta * L[n];
    return v;
}

extern "C" __global__ void libor(const float *__restrict__ z, const float *__restrict__ initial,
                                 const float *__restrict__ lambda, float *__restrict__ values, float2 *__restrict__ sums,
                                 int paths, float delta) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ float2 by_warp[THREADS / 32];

    int path = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    if (path < paths) {
        float L[RATES];
        for (int i = 0; i < RATES; i++)
            L[i] = initial[i];
        evolve(L, z, lambda, path, paths, delta);
        v = value(L, delta);
        values[path] = v;
    }
    float sum = cg::reduce(warp, v, cg::plus<float>()), square = cg::reduce(warp, v * v, cg::plus<float>());
    if (warp.thread_rank() == 0)
        by_warp[warp.meta_group_rank()] = make_float2(sum, square);
    block.sync();
    if (block.thread_rank() == 0) {
        float2 total = make_float2(0.0f, 0.0f);
        for (int w = 0; w < THREADS / 32; w++) {
            total.x += by_warp[w].x;
            total.y += by_warp[w].y;
        }
        sums[blockIdx.x] = total;
    }
}

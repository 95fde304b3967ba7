// A filter of a long signal with decimation: each block streams its stretch through shared memory in stages that a
// cuda::pipeline fills while the stage before is at work; threads take complex products with the taps.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

#pragma nv_diag_suppress static_var_with_dynamic_init

constexpr int THREADS = 128, STAGES = 2, DECIMATION = 4, TAPS = 48;
constexpr int FRESH = THREADS * DECIMATION, TILE = FRESH + TAPS;

extern "C" __global__ void __launch_bounds__(THREADS)
    pipe_fir(const float2 *__restrict__ signal, const float *__restrict__ taps, float2 *__restrict__ out, int outputs,
             int tiles_per_block) {
    __shared__ alignas(16) float2 tiles[STAGES][TILE];
    __shared__ float weights[TAPS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    if (threadIdx.x < TAPS)
        weights[threadIdx.x] = taps[threadIdx.x];

    int first = blockIdx.x * tiles_per_block;
    int last = min(first + tiles_per_block, (outputs + THREADS - 1) / THREADS);
    auto fetch = [&](int tile) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, tiles[tile % STAGES], signal + static_cast<size_t>(tile) * FRESH,
                           cuda::aligned_size_t<16>(sizeof(float2) * TILE), pipe);
        pipe.producer_commit();
    };
    block.sync();
    int ahead = first;
    for (int tile = first; tile < last; tile++) {
        for (; ahead < last && ahead < tile + STAGES; ahead++)
            fetch(ahead);
        pipe.consumer_wait();
        const float2 *x = tiles[tile % STAGES] + threadIdx.x * DECIMATION;
        float2 sum = {0.0f, 0.0f};
#pragma unroll 8
        for (int k = 0; k < TAPS; k++) {
            sum.x = fmaf(weights[k], x[k].x, sum.x);
            sum.y = fmaf(weights[k], x[k].y, sum.y);
        }
        int at = tile * THREADS + threadIdx.x;
        if (at < outputs)
            out[at] = sum;
        pipe.consumer_release();
    }
}

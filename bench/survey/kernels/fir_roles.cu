#include <cooperative_groups.h>
#include <cuda/barrier>

// Channels are filtered and thinned to a quarter: one warp brings samples into two buffers, four warps use them up,
// and barriers tell each when the other has finished.
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int PRODUCERS = 32, CONSUMERS = 128, TAPS = 64, BY = 4, CHUNK = 256, SPAN = CHUNK * BY + TAPS - BY;

struct Buffers {
    float samples[2][SPAN];
    float taps[TAPS];
};

__device__ void produce(Buffers &buffers, const float *x, int length, int chunks, Barrier ready[2],
                        Barrier filled[2]) {
    for (int c = 0; c < chunks; c++) {
        int b = c & 1, first = c * CHUNK * BY;
        ready[b].arrive_and_wait();
        for (int i = threadIdx.x; i < min(SPAN, length - first); i += PRODUCERS)
            cuda::memcpy_async(&buffers.samples[b][i], x + first + i, cuda::aligned_size_t<4>(4), filled[b]);
        (void)filled[b].arrive();
    }
}

__device__ void consume(const Buffers &buffers, float *y, int outputs, int chunks, Barrier ready[2],
                        Barrier filled[2]) {
    const int t = threadIdx.x - PRODUCERS;
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (int c = 0; c < chunks; c++) {
        int b = c & 1;
        filled[b].arrive_and_wait();
        for (int i = t; i < min(CHUNK, outputs - c * CHUNK); i += CONSUMERS) {
            const float *from = buffers.samples[b] + i * BY;
            float sum = 0.f;
#pragma unroll 8
            for (int k = 0; k < TAPS; k++)
                sum = fmaf(buffers.taps[k], from[k], sum);
            y[c * CHUNK + i] = sum;
        }
        (void)ready[b].arrive();
    }
}

extern "C" __global__ void __launch_bounds__(PRODUCERS + CONSUMERS) fir_roles(const float *__restrict__ x,
                                                                             const float *__restrict__ taps,
                                                                             float *__restrict__ y, int length,
                                                                             int outputs) {
    __shared__ Buffers buffers;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier barriers[4];
    auto block = cg::this_thread_block();
    if (block.thread_rank() < 4)
        init(barriers + block.thread_rank(), block.size());
    for (int i = block.thread_rank(); i < TAPS; i += block.size())
        buffers.taps[i] = taps[i];
    block.sync();
    const int chunks = (outputs + CHUNK - 1) / CHUNK;
    const size_t channel = blockIdx.x;
    if (block.thread_rank() < PRODUCERS)
        produce(buffers, x + channel * length, length, chunks, barriers, barriers + 2);
    else
        consume(buffers, y + channel * outputs, outputs, chunks, barriers, barriers + 2);
}

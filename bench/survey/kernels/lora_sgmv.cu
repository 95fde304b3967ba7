// LoRA for a batch of many adapters: tokens lie grouped by adapter; a first kernel shrinks each token to its adapter's
// rank, a second expands and adds. An adapter may be -1 (none), ranks differ between adapters.
#include <cuda_runtime.h>
#define MAX_RANK 32
#define TOKENS 4

struct Adapter {
    long long a_offset, b_offset;  // in floats: A is [rank][d_in], B is [d_out][rank]
    int rank;
    float scale;
};

// A warp a row of A, for TOKENS tokens of one segment. Grid: groups of tokens.
extern "C" __global__ void lora_shrink(const float *__restrict__ x, const float *__restrict__ weights,
                                       const Adapter *__restrict__ adapters, const int *__restrict__ group_adapter,
                                       const int2 *__restrict__ group_tokens, float *__restrict__ shrunk, int d_in) {
    int which = group_adapter[blockIdx.x];
    if (which < 0)
        return;
    Adapter adapter = adapters[which];
    int2 range = group_tokens[blockIdx.x];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    for (int r = warp; r < adapter.rank; r += warps) {
        const float *a = weights + adapter.a_offset + (size_t)r * d_in;
        float acc[TOKENS] = {};
        for (int i = lane; i < d_in; i += 32) {
            float w = a[i];
#pragma unroll
            for (int t = 0; t < TOKENS; t++)
                if (range.x + t < range.y)
                    acc[t] += w * x[(size_t)(range.x + t) * d_in + i];
        }
#pragma unroll
        for (int t = 0; t < TOKENS; t++) {
            for (int offset = 16; offset > 0; offset >>= 1)
                acc[t] += __shfl_down_sync(0xffffffffu, acc[t], offset);
            if (lane == 0 && range.x + t < range.y)
                shrunk[(range.x + t) * MAX_RANK + r] = acc[t] * adapter.scale;
        }
    }
}

// Grid: (d_out / 128, groups); a thread an output column of TOKENS tokens.
extern "C" __global__ void lora_expand(const float *__restrict__ shrunk, const float *__restrict__ weights,
                                       const Adapter *__restrict__ adapters, const int *__restrict__ group_adapter,
                                       const int2 *__restrict__ group_tokens, float *__restrict__ y, int d_out) {
    __shared__ float s[TOKENS][MAX_RANK];
    int which = group_adapter[blockIdx.y];
    if (which < 0)
        return;
    const Adapter &adapter = adapters[which];
    const int rank = adapter.rank;
    int2 range = group_tokens[blockIdx.y];
    for (int i = threadIdx.x; i < TOKENS * MAX_RANK; i += blockDim.x) {
        int t = i / MAX_RANK, r = i % MAX_RANK;
        s[t][r] = range.x + t < range.y && r < rank ? shrunk[(range.x + t) * MAX_RANK + r] : 0.0f;
    }
    __syncthreads();
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= d_out)
        return;
    const float *b = weights + adapter.b_offset + (size_t)column * rank;
    float acc[TOKENS] = {};
    for (int r = 0; r < rank; r += 4) {
        float4 w = *reinterpret_cast<const float4 *>(b + r);
#pragma unroll
        for (int t = 0; t < TOKENS; t++)
            acc[t] += w.x * s[t][r] + w.y * s[t][r + 1] + w.z * s[t][r + 2] + w.w * s[t][r + 3];
    }
    for (int t = 0; t < TOKENS && range.x + t < range.y; t++)
        y[(size_t)(range.x + t) * d_out + column] += acc[t];
}

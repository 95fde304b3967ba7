// Attention probabilities in half precision, two numbers an instruction: a CTA for each query and head, causal.
#include <cuda_fp16.h>

#define DIM 64

__device__ float block_reduce(float value, bool maximum) {
    __shared__ float parts[32];
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_xor_sync(0xffffffff, value, offset);
        value = maximum ? fmaxf(value, other) : value + other;
    }
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    __syncthreads();
    if (lane == 0)
        parts[warp] = value;
    __syncthreads();
    value = parts[0];
    for (int i = 1; i < warps; i++)
        value = maximum ? fmaxf(value, parts[i]) : value + parts[i];
    return value;
}

extern "C" __global__ void attn_h2(const __half2 *__restrict__ q, const __half2 *__restrict__ k,
                                   __half2 *__restrict__ probs, int queries, int keys, float scale) {
    extern __shared__ float scores[];
    __shared__ __half2 query[DIM / 2];
    int i = blockIdx.x, head = blockIdx.y, tid = threadIdx.x;

    if (tid < DIM / 2)
        query[tid] = __hmul2(q[(head * queries + i) * (DIM / 2) + tid], __float2half2_rn(scale));
    __syncthreads();

    int limit = keys - queries + i + 1;
    float best = -INFINITY;
    for (int j = tid; j < limit; j += blockDim.x) {
        const __half2 *key = k + (size_t)(head * keys + j) * (DIM / 2);
        __half2 even = __float2half2_rn(0.0f), odd = even;
#pragma unroll
        for (int d = 0; d < DIM / 2; d += 2) {
            even = __hfma2(query[d], key[d], even);
            odd = __hfma2(query[d + 1], key[d + 1], odd);
        }
        float2 s = __half22float2(__hadd2(even, odd));
        scores[j] = s.x + s.y;
        best = fmaxf(best, s.x + s.y);
    }
    best = block_reduce(best, true);

    __half2 *out = probs + (size_t)(head * queries + i) * (keys / 2);
    float sum = 0.0f;
    for (int j = tid; j < keys / 2; j += blockDim.x) {
        float first = 2 * j < limit ? scores[2 * j] - best : -INFINITY;
        float second = 2 * j + 1 < limit ? scores[2 * j + 1] - best : -INFINITY;
        __half2 e = h2exp(__floats2half2_rn(first, second));
        float2 f = __half22float2(e);
        sum += f.x + f.y;
        out[j] = e;
    }
    sum = block_reduce(sum, false);

    __half2 inverse = __float2half2_rn(1.0f / sum);
    for (int j = tid; j < keys / 2; j += blockDim.x)
        out[j] = __hmul2(out[j], inverse);
}

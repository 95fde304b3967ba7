// A layer of a graph attention network: each node is the mean of its neighbours, weighted by a softmax of scores over
// them; four heads of 64 numbers in half precision, a warp a node and head.
#include <cuda_fp16.h>

#define HEADS 4
#define DIM 64
#define FULL_MASK 0xffffffffu

__device__ __forceinline__ float reduce_sum(float v) {
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(FULL_MASK, v, o);
    return v;
}

__device__ __forceinline__ float reduce_max(float v) {
    for (int o = 16; o > 0; o /= 2)
        v = fmaxf(v, __shfl_xor_sync(FULL_MASK, v, o));
    return v;
}

__device__ __forceinline__ float leaky_relu(float x, float slope) {
    return x > 0.0f ? x : slope * x;
}

extern "C" __global__ void gat_scores(const __half2 *__restrict__ features, const float2 *__restrict__ a_source,
                                      const float2 *__restrict__ a_target, float *__restrict__ source_score,
                                      float *__restrict__ target_score, int n) {
    int node = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (node >= n)
        return;
    for (int head = 0; head < HEADS; head++) {
        float2 f = __half22float2(features[((size_t)node * HEADS + head) * (DIM / 2) + lane]);
        float2 s = a_source[head * (DIM / 2) + lane], t = a_target[head * (DIM / 2) + lane];
        float source = reduce_sum(f.x * s.x + f.y * s.y), target = reduce_sum(f.x * t.x + f.y * t.y);
        if (lane == 0) {
            source_score[node * HEADS + head] = source;
            target_score[node * HEADS + head] = target;
        }
    }
}

extern "C" __global__ void gat_gather(const __half2 *__restrict__ features, const float *__restrict__ source_score,
                                      const float *__restrict__ target_score, const int *__restrict__ row_start,
                                      const int *__restrict__ neighbours, const float2 *__restrict__ bias,
                                      __half2 *__restrict__ out, int n, float slope) {
    int node = blockIdx.x, head = threadIdx.y, lane = threadIdx.x;
    int begin = row_start[node], end = row_start[node + 1];
    float mine = target_score[node * HEADS + head];

    float most = -INFINITY;
    for (int e = begin + lane; e < end; e += 32)
        most = fmaxf(most, leaky_relu(source_score[neighbours[e] * HEADS + head] + mine, slope));
    most = reduce_max(most);

    float total = 0.0f;
    float2 sum = make_float2(0.0f, 0.0f);
    for (int first = begin; first < end; first += 32) {
        int e = first + lane, from = 0;
        float weight = 0.0f;
        if (e < end) {
            from = neighbours[e];
            weight = expf(leaky_relu(source_score[from * HEADS + head] + mine, slope) - most);
        }
        total += weight;
        int count = min(32, end - first);
        for (int j = 0; j < count; j++) {
            float w = __shfl_sync(FULL_MASK, weight, j);
            int u = __shfl_sync(FULL_MASK, from, j);
            float2 f = __half22float2(features[((size_t)u * HEADS + head) * (DIM / 2) + lane]);
            sum.x += w * f.x;
            sum.y += w * f.y;
        }
    }
    total = reduce_sum(total);
    float scale = total > 0.0f ? 1.0f / total : 0.0f;
    float2 b = bias[head * (DIM / 2) + lane];
    float x = sum.x * scale + b.x, y = sum.y * scale + b.y;
    x = x > 0.0f ? x : expm1f(x);
    y = y > 0.0f ? y : expm1f(y);
    out[((size_t)node * HEADS + head) * (DIM / 2) + lane] = __floats2half2_rn(x, y);
}

// Group norm with channels last in half precision, SiLU at the end: sums of pairs of channels go through shared
// memory to groups and by atomics to the image's; then a second kernel scales.
#include <cuda_fp16.h>

struct GroupNormParams {
    int n, hw, c, groups, channels_per_group, hw_per_block, with_silu;
    float inv_count, eps;
};

template <typename T> __device__ __forceinline__ T sigmoid(T x) { return T(1) / (T(1) + __expf(-x)); }

extern "C" __global__ void gn_zero(float *red, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        red[i] = 0.0f;
}

extern "C" __global__ void gn_sum(const half *__restrict__ src, float *red, GroupNormParams p) {
    extern __shared__ float group_sums[];  // sums, then squares
    int ni = blockIdx.y, ci = threadIdx.x * 2;
    int begin = blockIdx.x * p.hw_per_block, end = min(begin + p.hw_per_block, p.hw);
    for (int i = threadIdx.x; i < 2 * p.groups; i += blockDim.x)
        group_sums[i] = 0.0f;
    __syncthreads();
    float sum = 0.0f, sum_sq = 0.0f;
    if (ci < p.c) {
        for (int hwi = begin; hwi < end; ++hwi) {
            long long offset = (long long)ni * p.hw * p.c + (long long)hwi * p.c + ci;
            float2 f = __half22float2(*reinterpret_cast<const half2 *>(&src[offset]));
            sum += f.x + f.y;
            sum_sq += f.x * f.x + f.y * f.y;
        }
        int gi = ci / p.channels_per_group;
        atomicAdd(&group_sums[gi], sum);
        atomicAdd(&group_sums[p.groups + gi], sum_sq);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < p.groups; g += blockDim.x) {
        atomicAdd(&red[(2 * ni + 0) * p.groups + g], group_sums[g]);
        atomicAdd(&red[(2 * ni + 1) * p.groups + g], group_sums[p.groups + g]);
    }
}

extern "C" __global__ void gn_scale(const half *__restrict__ src, half *__restrict__ dst, const float *red,
                                    const float *__restrict__ gamma, const float *__restrict__ beta,
                                    GroupNormParams p) {
    int ni = blockIdx.y, ci = threadIdx.x * 2;
    if (ci >= p.c)
        return;
    int gi = ci / p.channels_per_group;
    float sum = red[(2 * ni + 0) * p.groups + gi], sum_sq = red[(2 * ni + 1) * p.groups + gi];
    float2 gamma2 = *reinterpret_cast<const float2 *>(&gamma[ci]);
    float2 beta2 = *reinterpret_cast<const float2 *>(&beta[ci]);
    float mean = sum * p.inv_count;
    float var = sum_sq * p.inv_count - mean * mean;
    float inv_std = rsqrtf(var + p.eps);
    int begin = blockIdx.x * p.hw_per_block, end = min(begin + p.hw_per_block, p.hw);
    for (int hwi = begin; hwi < end; ++hwi) {
        long long offset = ((long long)ni * p.hw + hwi) * p.c + ci;
        float2 f = __half22float2(*reinterpret_cast<const half2 *>(&src[offset]));
        f.x = gamma2.x * ((f.x - mean) * inv_std) + beta2.x;
        f.y = gamma2.y * ((f.y - mean) * inv_std) + beta2.y;
        if (p.with_silu) {
            f.x *= sigmoid(f.x);
            f.y *= sigmoid(f.y);
        }
        *reinterpret_cast<half2 *>(&dst[offset]) = __float22half2_rn(f);
    }
}

// Cross entropy with smoothed labels over a large vocabulary, in half precision: a CTA a row finds the largest and the
// sum of exponentials in one pass, four values at a time, and writes the gradient in place in another.
#include <cuda_fp16.h>

#define THREADS 256
#define IGNORED -100

struct __align__(8) Running {
    float most, sum;
};

__device__ __forceinline__ Running merge(Running a, Running b) {
    const bool a_bigger = a.most > b.most;
    const Running big = a_bigger ? a : b, small = a_bigger ? b : a;
    Running r;
    r.most = big.most;
    r.sum = big.sum + small.sum * __expf(small.most - big.most);
    return r;
}

union Four {
    uint2 bits;
    __half2 halves[2];
};

extern "C" __global__ void __launch_bounds__(THREADS)
    smooth_xent(__half *__restrict__ logits, const int *__restrict__ targets, float *__restrict__ losses,
                float *__restrict__ totals, int vocabulary, int stride, float smoothing, float grad_scale) {
    __shared__ Running parts[THREADS / 32];
    __shared__ float sums[THREADS / 32];
    __half *row = logits + (size_t)blockIdx.x * stride;
    const int target = targets[blockIdx.x];
    if (target == IGNORED) {
        for (int i = threadIdx.x; i < vocabulary; i += THREADS)
            row[i] = __float2half(0.0f);
        if (threadIdx.x == 0)
            losses[blockIdx.x] = 0.0f;
        return;
    }

    const int fours = vocabulary / 4;
    const uint2 *in4 = reinterpret_cast<const uint2 *>(row);
    Running mine = {-1e30f, 0.0f};
    float sum = 0.0f;
    for (int i = threadIdx.x; i < fours; i += THREADS) {
        Four four;
        four.bits = in4[i];
        const float2 a = __half22float2(four.halves[0]), b = __half22float2(four.halves[1]);
        const float x[4] = {a.x, a.y, b.x, b.y};
        const float most = fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]));
        if (most > mine.most) {
            mine.sum *= __expf(mine.most - most);
            mine.most = most;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            mine.sum += __expf(x[k] - mine.most);
            sum += x[k];
        }
    }
    for (int i = 4 * fours + threadIdx.x; i < vocabulary; i += THREADS) {
        const float x = __half2float(row[i]);
        const Running one = {x, 1.0f};
        mine = merge(mine, one);
        sum += x;
    }

    for (int offset = 16; offset > 0; offset >>= 1) {
        Running other;
        other.most = __shfl_xor_sync(0xffffffff, mine.most, offset);
        other.sum = __shfl_xor_sync(0xffffffff, mine.sum, offset);
        mine = merge(mine, other);
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = mine;
        sums[threadIdx.x / 32] = sum;
    }
    const float at_target = __half2float(row[target]);
    __syncthreads();
    mine = parts[0];
    sum = sums[0];
    for (int w = 1; w < THREADS / 32; w++) {
        mine = merge(mine, parts[w]);
        sum += sums[w];
    }

    const float log_sum = mine.most + logf(mine.sum);
    if (threadIdx.x == 0) {
        const float loss = log_sum - (1.0f - smoothing) * at_target - smoothing * sum / vocabulary;
        losses[blockIdx.x] = loss;
        atomicAdd(&totals[0], loss);
        atomicAdd(&totals[1], 1.0f);
    }
    const float even = smoothing / vocabulary;
    uint2 *out4 = reinterpret_cast<uint2 *>(row);
    for (int i = threadIdx.x; i < fours; i += THREADS) {
        Four four;
        four.bits = in4[i];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            float2 x = __half22float2(four.halves[k]);
            const int at = 4 * i + 2 * k;
            x.x = __expf(x.x - log_sum) - even - (at == target ? 1.0f - smoothing : 0.0f);
            x.y = __expf(x.y - log_sum) - even - (at + 1 == target ? 1.0f - smoothing : 0.0f);
            four.halves[k] = __floats2half2_rn(x.x * grad_scale, x.y * grad_scale);
        }
        out4[i] = four.bits;
    }
    for (int i = 4 * fours + threadIdx.x; i < vocabulary; i += THREADS) {
        float g = __expf(__half2float(row[i]) - log_sum) - even - (i == target ? 1.0f - smoothing : 0.0f);
        row[i] = __float2half(g * grad_scale);
    }
}

extern "C" __global__ void mean_loss(const float *totals, float *mean) {
    *mean = totals[1] > 0.0f ? totals[0] / totals[1] : 0.0f;
}

// Rotary embedding with YaRN: a first kernel blends extrapolated and interpolated frequencies by a ramp and makes the
// table of cosines and sines, a second turns queries and keys in place (half precision, halves of a head apart).
#include <cuda_fp16.h>

extern "C" __global__ void yarn_table(const float *__restrict__ inv_freq, float2 *__restrict__ table, int positions,
                                      int half_dim, float factor, float low, float high, float mscale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= positions * half_dim)
        return;
    int position = i / half_dim, d = i % half_dim;
    float ramp = fminf(fmaxf((d - low) / fmaxf(high - low, 1e-3f), 0.0f), 1.0f);
    float base = inv_freq[d];
    float freq = (base / factor) * ramp + base * (1.0f - ramp);
    float angle = position * freq, s, c;
    sincosf(angle, &s, &c);
    table[i] = make_float2(c * mscale, s * mscale);
}

template <int HALF>
__device__ __forceinline__ void rotate(__half *__restrict__ head, const float2 *__restrict__ row, int lane) {
    // two neighbours a lane
#pragma unroll
    for (int d = 2 * lane; d < HALF; d += 64) {
        __half2 *first = reinterpret_cast<__half2 *>(head + d);
        __half2 *second = reinterpret_cast<__half2 *>(head + HALF + d);
        float2 a = __half22float2(*first), b = __half22float2(*second);
        float4 cs = *reinterpret_cast<const float4 *>(row + d);
        *first = __floats2half2_rn(a.x * cs.x - b.x * cs.y, a.y * cs.z - b.y * cs.w);
        *second = __floats2half2_rn(b.x * cs.x + a.x * cs.y, b.y * cs.z + a.y * cs.w);
    }
}

// Block: (32, 4), a warp a head; grid: tokens.
extern "C" __global__ void yarn_apply(__half *__restrict__ q, __half *__restrict__ k, const int *__restrict__ position,
                                      const float2 *__restrict__ table, int q_heads, int k_heads, int half_dim) {
    const int token = blockIdx.x;
    const float2 *row = table + (size_t)position[token] * half_dim;
    for (int h = threadIdx.y; h < q_heads + k_heads; h += blockDim.y) {
        __half *head = h < q_heads ? q + ((size_t)token * q_heads + h) * 2 * half_dim
                                   : k + ((size_t)token * k_heads + h - q_heads) * 2 * half_dim;
        switch (half_dim) {
        case 32:
            rotate<32>(head, row, threadIdx.x);
            break;
        case 64:
            rotate<64>(head, row, threadIdx.x);
            break;
        case 128:
            rotate<128>(head, row, threadIdx.x);
            break;
        }
    }
}

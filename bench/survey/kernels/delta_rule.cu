// Linear attention with the gated delta rule, token by token: a block for a head and 64 columns of its state, a thread a
// column; queries and keys are made of length one in shared memory, 16 tokens at a time.
#include <cuda_fp16.h>
#define DK 64
#define CHUNK 16

extern "C" __global__ void __launch_bounds__(64)
    delta_rule(const half *__restrict__ q, const half *__restrict__ k, const half *__restrict__ v,
               const float *__restrict__ gate, const float *__restrict__ beta, float *__restrict__ state,
               half *__restrict__ out, int heads, int tokens, int dv, float scale) {
    __shared__ float qs[CHUNK][DK], ks[CHUNK][DK];
    __shared__ float gs[CHUNK], bs[CHUNK];
    const int bh = blockIdx.y, b = bh / heads, h = bh % heads, t = threadIdx.x;
    const int column = blockIdx.x * blockDim.x + t;
    const int lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5;

    float S[DK];
    float *own = state + (size_t)bh * DK * dv + column;
#pragma unroll
    for (int i = 0; i < DK; i++)
        S[i] = column < dv ? own[i * dv] : 0.0f;

    for (int first = 0; first < tokens; first += CHUNK) {
        const int count = min(CHUNK, tokens - first);
        __syncthreads();
        for (int j = warp; j < count; j += warps) {
            const size_t row = ((size_t)(b * tokens + first + j) * heads + h) * DK;
            const float2 a = __half22float2(reinterpret_cast<const half2 *>(q + row)[lane]);
            const float2 c = __half22float2(reinterpret_cast<const half2 *>(k + row)[lane]);
            float qq = a.x * a.x + a.y * a.y, kk = c.x * c.x + c.y * c.y;
#pragma unroll
            for (int d = 16; d > 0; d >>= 1) {
                qq += __shfl_xor_sync(0xffffffffu, qq, d);
                kk += __shfl_xor_sync(0xffffffffu, kk, d);
            }
            const float qn = rsqrtf(qq + 1e-6f) * scale, kn = rsqrtf(kk + 1e-6f);
            qs[j][2 * lane] = a.x * qn;
            qs[j][2 * lane + 1] = a.y * qn;
            ks[j][2 * lane] = c.x * kn;
            ks[j][2 * lane + 1] = c.y * kn;
        }
        if (t < count) {
            const int at = (b * tokens + first + t) * heads + h;
            gs[t] = __expf(gate[at]);
            bs[t] = 1.0f / (1.0f + __expf(-beta[at]));
        }
        __syncthreads();
        if (column < dv) {
            for (int j = 0; j < count; j++) {
                const size_t at = ((size_t)(b * tokens + first + j) * heads + h) * dv + column;
                const float g = gs[j];
                float known = 0.0f;
#pragma unroll
                for (int i = 0; i < DK; i++) {
                    S[i] *= g;
                    known += S[i] * ks[j][i];
                }
                const float delta = (__half2float(v[at]) - known) * bs[j];
                float o = 0.0f;
#pragma unroll
                for (int i = 0; i < DK; i++) {
                    S[i] += ks[j][i] * delta;
                    o += S[i] * qs[j][i];
                }
                out[at] = __float2half(o);
            }
        }
    }
    if (column < dv)
#pragma unroll
        for (int i = 0; i < DK; i++)
            own[i * dv] = S[i];
}

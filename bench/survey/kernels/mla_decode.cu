// Decoding with multi-head latent attention in its absorbed form: all heads share a latent vector of 512 and a rotary
// key of 64 for each cached token, in pages; a block takes a head and a split of the tokens, a second kernel merges.
#include <cuda_fp16.h>
#define LATENT 512
#define ROPE 64
#define TILE 32
#define THREADS 128

extern "C" __global__ void __launch_bounds__(THREADS)
mla_split(const float *__restrict__ q_latent, const float *__restrict__ q_rope, const __half *__restrict__ cache,
          const int *__restrict__ page_table, const int *__restrict__ seq_len, float *__restrict__ partial,
          float2 *__restrict__ partial_ml, int heads, int splits, int page_size, int max_pages, float scale) {
    __shared__ float query[LATENT + ROPE];
    __shared__ float score[TILE];
    __shared__ const __half *rows[TILE];
    const int head = blockIdx.x, split = blockIdx.y, seq = blockIdx.z;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t qh = (size_t)seq * heads + head;
    for (int i = threadIdx.x; i < LATENT; i += THREADS)
        query[i] = q_latent[qh * LATENT + i];
    for (int i = threadIdx.x; i < ROPE; i += THREADS)
        query[LATENT + i] = q_rope[qh * ROPE + i];

    int length = seq_len[seq];
    int share = (length + splits - 1) / splits;
    int begin = split * share, end = min(begin + share, length);
    float m = -INFINITY, l = 0.0f;
    float acc[LATENT / THREADS] = {};
    for (int tile = begin; tile < end; tile += TILE) {
        int count = min(TILE, end - tile);
        __syncthreads();
        if (threadIdx.x < count) {
            int token = tile + threadIdx.x;
            int page = page_table[seq * max_pages + token / page_size];
            rows[threadIdx.x] = cache + ((size_t)page * page_size + token % page_size) * (LATENT + ROPE);
        }
        __syncthreads();
        for (int t = warp; t < count; t += THREADS / 32) {
            const __half2 *row = reinterpret_cast<const __half2 *>(rows[t]);
            float sum = 0.0f;
#pragma unroll
            for (int i = 0; i < (LATENT + ROPE) / 64; i++) {
                float2 kv = __half22float2(row[i * 32 + lane]);
                sum = fmaf(kv.x, query[2 * (i * 32 + lane)], sum);
                sum = fmaf(kv.y, query[2 * (i * 32 + lane) + 1], sum);
            }
            for (int offset = 16; offset; offset /= 2)
                sum += __shfl_down_sync(0xffffffffu, sum, offset);
            if (lane == 0)
                score[t] = sum * scale;
        }
        __syncthreads();
        float most = m;
        for (int t = 0; t < count; t++)
            most = fmaxf(most, score[t]);
        float correction = expf(m - most);
        l *= correction;
        for (float &a : acc)
            a *= correction;
        for (int t = 0; t < count; t++) {
            float p = expf(score[t] - most);
            l += p;
            uint2 raw = reinterpret_cast<const uint2 *>(rows[t])[threadIdx.x];
            float2 lo = __half22float2(*reinterpret_cast<__half2 *>(&raw.x));
            float2 hi = __half22float2(*reinterpret_cast<__half2 *>(&raw.y));
            acc[0] += p * lo.x;
            acc[1] += p * lo.y;
            acc[2] += p * hi.x;
            acc[3] += p * hi.y;
        }
        m = most;
    }
    size_t at = qh * splits + split;
    reinterpret_cast<float4 *>(partial + at * LATENT)[threadIdx.x] = make_float4(acc[0], acc[1], acc[2], acc[3]);
    if (threadIdx.x == 0)
        partial_ml[at] = make_float2(m, l);
}

extern "C" __global__ void mla_merge(const float *__restrict__ partial, const float2 *__restrict__ partial_ml,
                                     __half *__restrict__ out, int splits) {
    size_t qh = blockIdx.x;
    float most = -INFINITY;
    for (int s = 0; s < splits; s++)
        most = fmaxf(most, partial_ml[qh * splits + s].x);
    float total = 0.0f, value = 0.0f;
    for (int s = 0; s < splits; s++) {
        float2 ml = partial_ml[qh * splits + s];
        if (ml.y == 0.0f)
            continue;
        float w = expf(ml.x - most);
        total += w * ml.y;
        value += w * partial[(qh * splits + s) * LATENT + threadIdx.x];
    }
    out[qh * LATENT + threadIdx.x] = __float2half(value / total);
}

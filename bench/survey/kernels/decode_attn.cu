// Attention of one new token over a paged cache of keys and values: a CTA for each head of each sequence.
#include <float.h>
#define HEAD_SIZE 128
#define PAGE_SIZE 16
#define THREADS 128
#define WARPS (THREADS / 32)

__device__ float block_max(float v, float *part) {
    for (int offset = 16; offset > 0; offset >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < WARPS ? part[threadIdx.x % 32] : -FLT_MAX;
    for (int offset = WARPS / 2; offset > 0; offset >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset));
    return __shfl_sync(0xffffffff, v, 0);
}

__device__ float block_sum(float v, float *part) {
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, offset);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < WARPS ? part[threadIdx.x % 32] : 0.0f;
    for (int offset = WARPS / 2; offset > 0; offset >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, offset);
    return __shfl_sync(0xffffffff, v, 0);
}

extern "C" __global__ void decode_attn(float *__restrict__ out, const float *__restrict__ q,
                                       const float *__restrict__ k_cache, const float *__restrict__ v_cache,
                                       const int *__restrict__ block_tables, const int *__restrict__ context_lens,
                                       int num_heads, int num_kv_heads, int max_blocks, float scale) {
    extern __shared__ float logits[];
    __shared__ float q_shared[HEAD_SIZE];
    __shared__ float part_max[WARPS], part_sum[WARPS];
    const int head = blockIdx.x, seq = blockIdx.y;
    const int kv_head = head / (num_heads / num_kv_heads);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int length = context_lens[seq];
    const int *table = block_tables + seq * max_blocks;
    const size_t q_offset = ((size_t)seq * num_heads + head) * HEAD_SIZE;

    for (int d = threadIdx.x; d < HEAD_SIZE; d += blockDim.x)
        q_shared[d] = q[q_offset + d] * scale;
    __syncthreads();

    float qk_max = -FLT_MAX;
    for (int token = warp; token < length; token += WARPS) {
        const size_t row = (size_t)table[token / PAGE_SIZE] * PAGE_SIZE + token % PAGE_SIZE;
        const float *k = k_cache + (row * num_kv_heads + kv_head) * HEAD_SIZE;
        float qk = 0.0f;
        for (int d = lane; d < HEAD_SIZE; d += 32)
            qk += q_shared[d] * k[d];
        for (int offset = 16; offset > 0; offset >>= 1)
            qk += __shfl_xor_sync(0xffffffff, qk, offset);
        if (lane == 0)
            logits[token] = qk;
        qk_max = fmaxf(qk_max, qk);
    }
    qk_max = block_max(qk_max, part_max);

    float sum = 0.0f;
    for (int token = threadIdx.x; token < length; token += blockDim.x) {
        float p = __expf(logits[token] - qk_max);
        logits[token] = p;
        sum += p;
    }
    sum = block_sum(sum, part_sum);
    const float inverse = 1.0f / (sum + 1e-6f);
    for (int token = threadIdx.x; token < length; token += blockDim.x)
        logits[token] *= inverse;
    __syncthreads();

    for (int d = threadIdx.x; d < HEAD_SIZE; d += blockDim.x) {
        float acc = 0.0f;
        for (int token = 0; token < length; token++) {
            const size_t row = (size_t)table[token / PAGE_SIZE] * PAGE_SIZE + token % PAGE_SIZE;
            acc += logits[token] * v_cache[(row * num_kv_heads + kv_head) * HEAD_SIZE + d];
        }
        out[q_offset + d] = acc;
    }
}

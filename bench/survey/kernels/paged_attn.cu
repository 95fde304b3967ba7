// Attention of one new token over keys and values in pages: a block a head of a sequence, warps take pages, pairs of
// threads a token's key; logits in shared memory, softmax, then rows of values by warps and a sum over warps.
#include <cuda_fp16.h>

template <typename T, int N> struct alignas(sizeof(T) * N) VecT {
    T v[N];
};

template <int NUM_WARPS> __device__ __forceinline__ float block_sum(float *red_smem, float sum) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int mask = 16; mask >= 1; mask /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (lane == 0)
        red_smem[warp] = sum;
    __syncthreads();
    if (lane < NUM_WARPS)
        sum = red_smem[lane];
#pragma unroll
    for (int mask = NUM_WARPS / 2; mask >= 1; mask /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    return __shfl_sync(0xffffffffu, sum, 0);
}

template <typename scalar_t, int HEAD_SIZE, int BLOCK_SIZE, int NUM_THREADS>
__device__ void paged_attention(scalar_t *__restrict__ out, const scalar_t *__restrict__ q,
                                const scalar_t *__restrict__ k_cache, const scalar_t *__restrict__ v_cache,
                                int num_kv_heads, float scale, const int *__restrict__ block_tables,
                                const int *__restrict__ context_lens, int max_blocks_per_seq,
                                const float *__restrict__ alibi_slopes, int q_stride, int kv_block_stride,
                                int kv_head_stride) {
    constexpr int GROUP = 32 / BLOCK_SIZE > 1 ? 32 / BLOCK_SIZE : 1;
    constexpr int TOKENS_PER_GROUP = (BLOCK_SIZE + 31) / 32;
    constexpr int NUM_WARPS = NUM_THREADS / 32;
    constexpr int VEC = 16 / (GROUP * sizeof(scalar_t)) > 1 ? 16 / (GROUP * sizeof(scalar_t)) : 1;
    constexpr int ELEMS = HEAD_SIZE / GROUP, VECS = ELEMS / VEC;
    constexpr int X = 16 / sizeof(scalar_t);
    const int thread_idx = threadIdx.x, warp_idx = thread_idx / 32, lane = thread_idx % 32;
    const int head_idx = blockIdx.x, num_heads = gridDim.x, seq_idx = blockIdx.y;
    const int kv_head_idx = head_idx / (num_heads / num_kv_heads);
    const float slope = alibi_slopes == nullptr ? 0.f : alibi_slopes[head_idx];
    const int group_idx = thread_idx / GROUP, group_offset = thread_idx % GROUP;
    const int context_len = context_lens[seq_idx];
    const int num_blocks = (context_len + BLOCK_SIZE - 1) / BLOCK_SIZE;
    using Vec = VecT<scalar_t, VEC>;

    __shared__ Vec q_vecs[GROUP][VECS];
    const scalar_t *q_ptr = q + seq_idx * q_stride + head_idx * HEAD_SIZE;
    for (int i = group_idx; i < VECS; i += NUM_THREADS / GROUP)
        q_vecs[group_offset][i] = *reinterpret_cast<const Vec *>(q_ptr + (group_offset + i * GROUP) * VEC);
    __syncthreads();

    extern __shared__ char shared_mem[];
    float *logits = reinterpret_cast<float *>(shared_mem);
    __shared__ float red_smem[2 * NUM_WARPS];
    const int *block_table = block_tables + seq_idx * max_blocks_per_seq;
    float qk_max = -3.402823466e+38f;
    for (int block_idx = warp_idx; block_idx < num_blocks; block_idx += NUM_WARPS) {
        const long long physical = block_table[block_idx];
        for (int i = 0; i < TOKENS_PER_GROUP; i++) {
            const int block_offset = (group_idx + i * 32) % BLOCK_SIZE;
            const int token_idx = block_idx * BLOCK_SIZE + block_offset;
            const scalar_t *k_ptr =
                k_cache + physical * kv_block_stride + kv_head_idx * kv_head_stride + block_offset * X;
            Vec k_vecs[VECS];
#pragma unroll
            for (int j = 0; j < VECS; j++) {
                const int vec_idx = group_offset + j * GROUP;
                const int offset1 = (vec_idx * VEC) / X, offset2 = (vec_idx * VEC) % X;
                k_vecs[j] = *reinterpret_cast<const Vec *>(k_ptr + offset1 * BLOCK_SIZE * X + offset2);
            }
            float qk = 0.f;
#pragma unroll
            for (int j = 0; j < VECS; j++)
#pragma unroll
                for (int e = 0; e < VEC; e++)
                    qk += __half2float(q_vecs[group_offset][j].v[e]) * __half2float(k_vecs[j].v[e]);
#pragma unroll
            for (int mask = GROUP / 2; mask >= 1; mask /= 2)
                qk += __shfl_xor_sync(0xffffffffu, qk, mask);
            qk *= scale;
            qk += slope != 0 ? slope * (token_idx - context_len + 1) : 0;
            if (group_offset == 0) {
                const bool mask = token_idx >= context_len;
                logits[token_idx] = mask ? 0.f : qk;
                qk_max = mask ? qk_max : fmaxf(qk_max, qk);
            }
        }
    }
#pragma unroll
    for (int mask = 16; mask >= GROUP; mask /= 2)
        qk_max = fmaxf(qk_max, __shfl_xor_sync(0xffffffffu, qk_max, mask));
    if (lane == 0)
        red_smem[warp_idx] = qk_max;
    __syncthreads();
    qk_max = lane < NUM_WARPS ? red_smem[lane] : -3.402823466e+38f;
#pragma unroll
    for (int mask = NUM_WARPS / 2; mask >= 1; mask /= 2)
        qk_max = fmaxf(qk_max, __shfl_xor_sync(0xffffffffu, qk_max, mask));
    qk_max = __shfl_sync(0xffffffffu, qk_max, 0);
    float exp_sum = 0.f;
    for (int i = thread_idx; i < context_len; i += NUM_THREADS) {
        float val = __expf(logits[i] - qk_max);
        logits[i] = val;
        exp_sum += val;
    }
    exp_sum = block_sum<NUM_WARPS>(&red_smem[NUM_WARPS], exp_sum);
    const float inv_sum = __fdividef(1.f, exp_sum + 1e-6f);
    for (int i = thread_idx; i < context_len; i += NUM_THREADS)
        logits[i] *= inv_sum;
    __syncthreads();

    constexpr int V_VEC = 16 / sizeof(scalar_t) < BLOCK_SIZE ? 16 / sizeof(scalar_t) : BLOCK_SIZE;
    constexpr int V_VECS_PER_ROW = BLOCK_SIZE / V_VEC;
    constexpr int ROWS_PER_ITER = 32 / V_VECS_PER_ROW;
    constexpr int ROWS_PER_THREAD = (HEAD_SIZE + ROWS_PER_ITER - 1) / ROWS_PER_ITER;
    using V = VecT<scalar_t, V_VEC>;
    float accs[ROWS_PER_THREAD];
#pragma unroll
    for (int i = 0; i < ROWS_PER_THREAD; i++)
        accs[i] = 0.f;
    for (int block_idx = warp_idx; block_idx < num_blocks; block_idx += NUM_WARPS) {
        const long long physical = block_table[block_idx];
        const int offset = (lane % V_VECS_PER_ROW) * V_VEC;
        const int token_idx = block_idx * BLOCK_SIZE + offset;
        const scalar_t *v_ptr = v_cache + physical * kv_block_stride + kv_head_idx * kv_head_stride;
#pragma unroll
        for (int i = 0; i < ROWS_PER_THREAD; i++) {
            const int row = lane / V_VECS_PER_ROW + i * ROWS_PER_ITER;
            if (row < HEAD_SIZE) {
                V v = *reinterpret_cast<const V *>(v_ptr + row * BLOCK_SIZE + offset);
                if (block_idx == num_blocks - 1) {
#pragma unroll
                    for (int j = 0; j < V_VEC; j++)
                        v.v[j] = token_idx + j < context_len ? v.v[j] : __float2half(0.f);
                }
#pragma unroll
                for (int j = 0; j < V_VEC; j++)
                    accs[i] += logits[token_idx + j] * __half2float(v.v[j]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS_PER_THREAD; i++) {
#pragma unroll
        for (int mask = V_VECS_PER_ROW / 2; mask >= 1; mask /= 2)
            accs[i] += __shfl_xor_sync(0xffffffffu, accs[i], mask);
    }
    __syncthreads();
    float *out_smem = reinterpret_cast<float *>(shared_mem);
#pragma unroll
    for (int i = NUM_WARPS; i > 1; i /= 2) {
        int mid = i / 2;
        if (warp_idx >= mid && warp_idx < i) {
            float *dst = &out_smem[(warp_idx - mid) * HEAD_SIZE];
#pragma unroll
            for (int k = 0; k < ROWS_PER_THREAD; k++) {
                const int row = lane / V_VECS_PER_ROW + k * ROWS_PER_ITER;
                if (row < HEAD_SIZE && lane % V_VECS_PER_ROW == 0)
                    dst[row] = accs[k];
            }
        }
        __syncthreads();
        if (warp_idx < mid) {
            const float *src = &out_smem[warp_idx * HEAD_SIZE];
#pragma unroll
            for (int k = 0; k < ROWS_PER_THREAD; k++) {
                const int row = lane / V_VECS_PER_ROW + k * ROWS_PER_ITER;
                if (row < HEAD_SIZE && lane % V_VECS_PER_ROW == 0)
                    accs[k] += src[row];
            }
        }
        __syncthreads();
    }
    if (warp_idx == 0) {
        scalar_t *out_ptr = out + (seq_idx * num_heads + head_idx) * HEAD_SIZE;
#pragma unroll
        for (int i = 0; i < ROWS_PER_THREAD; i++) {
            const int row = lane / V_VECS_PER_ROW + i * ROWS_PER_ITER;
            if (row < HEAD_SIZE && lane % V_VECS_PER_ROW == 0)
                out_ptr[row] = __float2half(accs[i]);
        }
    }
}

extern "C" __global__ void paged_attn(half *out, const half *q, const half *k_cache, const half *v_cache,
                                      int num_kv_heads, float scale, const int *block_tables,
                                      const int *context_lens, int max_blocks_per_seq, const float *alibi_slopes,
                                      int q_stride, int kv_block_stride, int kv_head_stride) {
    paged_attention<half, 64, 16, 128>(out, q, k_cache, v_cache, num_kv_heads, scale, block_tables, context_lens,
                                       max_blocks_per_seq, alibi_slopes, q_stride, kv_block_stride, kv_head_stride);
}

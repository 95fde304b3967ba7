// Causal attention over a window of the last keys, with ALiBi's slopes instead of positions: a warp for each query,
// 32 keys a round, one for each lane; keys and values in shared memory for the block's queries.
#define DIM 64
#define QUERIES 8
#define KEYS 32

__device__ __forceinline__ float warp_max(float x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, offset));
    return x;
}

__device__ __forceinline__ float warp_sum(float x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_xor_sync(0xffffffff, x, offset);
    return x;
}

extern "C" __global__ void __launch_bounds__(32 * QUERIES)
    alibi_win(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
              float *__restrict__ out, int length, int window, float scale) {
    __shared__ float k_tile[KEYS][DIM + 1];
    __shared__ float v_tile[KEYS][DIM];
    __shared__ float q_tile[QUERIES][DIM];
    const int lane = threadIdx.x, warp = threadIdx.y, tid = warp * 32 + lane;
    const int head = blockIdx.y, first_query = blockIdx.x * QUERIES;
    const int query = first_query + warp;
    const size_t base = (size_t)head * length * DIM;
    const float slope = exp2f(-8.0f * (head + 1) / gridDim.y);

    for (int i = tid; i < QUERIES * DIM; i += 32 * QUERIES) {
        int row = first_query + i / DIM;
        q_tile[i / DIM][i % DIM] = row < length ? q[base + (size_t)first_query * DIM + i] * scale : 0.0f;
    }
    float best = -INFINITY, total = 0.0f, acc0 = 0.0f, acc1 = 0.0f;
    int first_key = max(0, first_query - window + 1) / KEYS * KEYS;
    int last_key = min(length, first_query + QUERIES);
    for (int k0 = first_key; k0 < last_key; k0 += KEYS) {
        __syncthreads();
        for (int i = tid; i < KEYS * DIM; i += 32 * QUERIES) {
            int row = k0 + i / DIM;
            bool inside = row < length;
            k_tile[i / DIM][i % DIM] = inside ? k[base + (size_t)k0 * DIM + i] : 0.0f;
            v_tile[i / DIM][i % DIM] = inside ? v[base + (size_t)k0 * DIM + i] : 0.0f;
        }
        __syncthreads();
        int key = k0 + lane;
        bool seen = key <= query && key > query - window && query < length;
        if (!__any_sync(0xffffffff, seen))
            continue;
        float score = -INFINITY;
        if (seen) {
            score = 0.0f;
#pragma unroll 8
            for (int d = 0; d < DIM; d++)
                score += q_tile[warp][d] * k_tile[lane][d];
            score -= slope * (query - key);
        }
        float new_best = fmaxf(best, warp_max(score));
        float correction = __expf(best - new_best);
        float p = seen ? __expf(score - new_best) : 0.0f;
        total = total * correction + warp_sum(p);
        acc0 *= correction;
        acc1 *= correction;
        for (int j = 0; j < KEYS; j++) {
            float pj = __shfl_sync(0xffffffff, p, j);
            acc0 += pj * v_tile[j][lane];
            acc1 += pj * v_tile[j][lane + 32];
        }
        best = new_best;
    }
    if (query < length) {
        out[base + (size_t)query * DIM + lane] = acc0 / total;
        out[base + (size_t)query * DIM + lane + 32] = acc1 / total;
    }
}

// Speculative decoding: attention of a tree's draft tokens over the cached prefix and their own ancestors (a 64-bit
// mask a token), then a warp a sequence walks down the tree as far as the target model agrees.
#include <cuda_runtime.h>
#define HEAD_DIM 64
#define THREADS 128

template <typename Op> __device__ __forceinline__ float block_reduce(float v, float *scratch, Op op, float neutral) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, offset));
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        scratch[threadIdx.x >> 5] = v;
    __syncthreads();
    v = threadIdx.x < THREADS / 32 ? scratch[threadIdx.x] : neutral;
    for (int offset = THREADS / 64; offset > 0; offset >>= 1)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, offset));
    if (threadIdx.x == 0)
        scratch[0] = v;
    __syncthreads();
    return scratch[0];
}

struct MaxOp {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct SumOp {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// Grid: nodes, heads, sequences. Keys: [sequence][kv head][prefix + nodes][64].
extern "C" __global__ void __launch_bounds__(THREADS)
tree_attention(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
               const unsigned long long *__restrict__ tree_mask, const int *__restrict__ prefix_len,
               float *__restrict__ out, int nodes, int heads, int kv_heads, int max_keys, float scale) {
    extern __shared__ float logits[];
    __shared__ float query[HEAD_DIM], scratch[THREADS / 32], halves[THREADS];
    int node = blockIdx.x, head = blockIdx.y, seq = blockIdx.z;
    int kv = head / (heads / kv_heads);
    const int prefix = prefix_len[seq];
    const int total = prefix + nodes;
    const unsigned long long mask = tree_mask[seq * nodes + node];
    size_t q_at = (((size_t)seq * nodes + node) * heads + head) * HEAD_DIM;
    size_t kv_at = ((size_t)seq * kv_heads + kv) * max_keys * HEAD_DIM;

    if (threadIdx.x < HEAD_DIM)
        query[threadIdx.x] = q[q_at + threadIdx.x] * scale;
    __syncthreads();

    float most = -INFINITY;
    for (int key = threadIdx.x; key < total; key += THREADS) {
        float s = -INFINITY;
        if (key < prefix || (mask >> (key - prefix)) & 1ull) {
            const float4 *row = reinterpret_cast<const float4 *>(k + kv_at + (size_t)key * HEAD_DIM);
            s = 0.0f;
#pragma unroll
            for (int i = 0; i < HEAD_DIM / 4; i++) {
                float4 f = row[i];
                s += f.x * query[4 * i] + f.y * query[4 * i + 1] + f.z * query[4 * i + 2] + f.w * query[4 * i + 3];
            }
        }
        logits[key] = s;
        most = fmaxf(most, s);
    }
    most = block_reduce(most, scratch, MaxOp(), -INFINITY);
    float sum = 0.0f;
    for (int key = threadIdx.x; key < total; key += THREADS) {
        float p = __expf(logits[key] - most);
        logits[key] = p;
        sum += p;
    }
    sum = block_reduce(sum, scratch, SumOp(), 0.0f);

    int dim = threadIdx.x % HEAD_DIM, part = threadIdx.x / HEAD_DIM;
    float acc = 0.0f;
    for (int key = part; key < total; key += THREADS / HEAD_DIM) {
        float p = logits[key];
        if (p != 0.0f)
            acc += p * v[kv_at + (size_t)key * HEAD_DIM + dim];
    }
    halves[threadIdx.x] = acc;
    __syncthreads();
    if (part == 0)
        out[q_at + dim] = (halves[dim] + halves[dim + HEAD_DIM]) / sum;
}

// A warp a sequence, a lane two nodes at most.
extern "C" __global__ void tree_accept(const int *__restrict__ parent, const int *__restrict__ draft,
                                       const int *__restrict__ target, int *__restrict__ accepted,
                                       int *__restrict__ length, int nodes, int seqs) {
    int seq = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (seq >= seqs)
        return;
    const int base = seq * nodes;
    int current = 0, count = 0;
    while (true) {
        int want = target[base + current];
        if (lane == 0)
            accepted[base + count] = want;
        count++;
        int next = -1;
        for (int first = 0; first < nodes && next < 0; first += 32) {
            int node = first + lane;
            bool hit = node < nodes && node != 0 && parent[base + node] == current && draft[base + node] == want;
            unsigned votes = __ballot_sync(0xffffffffu, hit);
            if (votes)
                next = first + __ffs(votes) - 1;
        }
        if (next < 0)
            break;
        current = next;
    }
    if (lane == 0)
        length[seq] = count;
}

// Constrained decoding: each sequence's grammar allows some tokens (a bit each); logits get penalties for repetition
// and a temperature, forbidden ones minus infinity; then probabilities, the best token and how many are allowed.
#include <cuda_runtime.h>

struct Best {
    float value;
    int index;
};

__device__ __forceinline__ Best better(Best a, Best b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

// A thread a token that was seen.
extern "C" __global__ void penalise(float *__restrict__ logits, const int *__restrict__ history,
                                    const int *__restrict__ history_len, const float *__restrict__ penalty,
                                    int max_history, int vocab) {
    int seq = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= history_len[seq])
        return;
    int token = history[seq * max_history + i];
    // only the first occurrence counts
    for (int j = 0; j < i; j++)
        if (history[seq * max_history + j] == token)
            return;
    float v = logits[(size_t)seq * vocab + token];
    logits[(size_t)seq * vocab + token] = v > 0.0f ? v / penalty[seq] : v * penalty[seq];
}

// A block a sequence; a thread reads a word of the mask and its 32 logits by warps, so that both are coalesced.
extern "C" __global__ void __launch_bounds__(256)
mask_select(float *__restrict__ logits, const unsigned *__restrict__ bitmask, const int *__restrict__ grammar,
            const float *__restrict__ temperature, int *__restrict__ token, float *__restrict__ logprob,
            int *__restrict__ allowed, int vocab, int words) {
    __shared__ Best warp_best[8];
    __shared__ float warp_sum[8];
    __shared__ int warp_count[8];
    const int seq = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float *row = logits + (size_t)seq * vocab;
    const unsigned *mask = grammar[seq] < 0 ? nullptr : bitmask + (size_t)grammar[seq] * words;
    const float inverse = 1.0f / temperature[seq];
    Best best = {-INFINITY, 0x7fffffff};
    int count = 0;
    for (int word = warp; word < words; word += 8) {
        unsigned bits = mask ? mask[word] : 0xffffffffu;
        int at = word * 32 + lane;
        if (bits == 0) {
            if (at < vocab)
                row[at] = -INFINITY;
            continue;
        }
        if (at < vocab) {
            if (bits >> lane & 1) {
                float v = row[at] * inverse;
                row[at] = v;
                best = better(best, {v, at});
                count++;
            } else {
                row[at] = -INFINITY;
            }
        }
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        Best other;
        other.value = __shfl_down_sync(0xffffffffu, best.value, offset);
        other.index = __shfl_down_sync(0xffffffffu, best.index, offset);
        best = better(best, other);
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (lane == 0) {
        warp_best[warp] = best;
        warp_count[warp] = count;
    }
    __syncthreads();
    best = warp_best[0];
    for (int w = 1; w < 8; w++)
        best = better(best, warp_best[w]);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < vocab; i += 256) {
        float p = row[i] == -INFINITY ? 0.0f : __expf(row[i] - best.value);
        row[i] = p;
        sum += p;
    }
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0)
        warp_sum[warp] = sum;
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < 8; w++)
        total += warp_sum[w];
    for (int i = threadIdx.x; i < vocab; i += 256)
        row[i] /= total;
    if (threadIdx.x == 0) {
        int all = 0;
        for (int w = 0; w < 8; w++)
            all += warp_count[w];
        token[seq] = best.index;
        logprob[seq] = -logf(total);
        allowed[seq] = all;
    }
}

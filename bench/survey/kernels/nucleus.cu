// Top-p sampling: the least probability that is still in the nucleus is found by bisection, then a token is drawn
// from those above by a scan. A block for each sequence.
#define THREADS 256
#define WARPS (THREADS / 32)
#define ROUNDS 20

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <typename Op>
__device__ float block_reduce(float x, Op op, float *scratch) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        x = op(x, __shfl_xor_sync(0xffffffffu, x, offset));
    if (lane == 0)
        scratch[warp] = x;
    __syncthreads();
    x = scratch[0];
#pragma unroll
    for (int w = 1; w < WARPS; w++)
        x = op(x, scratch[w]);
    __syncthreads();
    return x;
}

// What is summed up to and with this thread, and the sum of all.
__device__ float block_scan(float x, float *scratch, float &all) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (int offset = 1; offset < 32; offset <<= 1) {
        float y = __shfl_up_sync(0xffffffffu, x, offset);
        if (lane >= offset)
            x += y;
    }
    if (lane == 31)
        scratch[warp] = x;
    __syncthreads();
    float before = 0.0f;
    all = 0.0f;
    for (int w = 0; w < WARPS; w++) {
        if (w == warp)
            before = all;
        all += scratch[w];
    }
    __syncthreads();
    return before + x;
}

extern "C" __global__ void nucleus(const float *logits, float *probs, const float *top_p, const float *temperature,
                                   const float *uniform, int *tokens, int vocab) {
    __shared__ float scratch[WARPS];
    __shared__ int chosen;
    int row = blockIdx.x;
    const float *in = logits + (size_t)row * vocab;
    float *p = probs + (size_t)row * vocab;
    float inv_t = 1.0f / temperature[row];

    float best = -INFINITY;
    for (int i = threadIdx.x; i < vocab; i += THREADS)
        best = fmaxf(best, in[i]);
    best = block_reduce(best, Max(), scratch);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < vocab; i += THREADS) {
        float e = expf((in[i] - best) * inv_t);
        p[i] = e;
        sum += e;
    }
    float wanted = top_p[row] * block_reduce(sum, Sum(), scratch);

    float low = 0.0f, high = 1.0f;
    for (int round = 0; round < ROUNDS; round++) {
        float middle = 0.5f * (low + high), mass = 0.0f;
        for (int i = threadIdx.x; i < vocab; i += THREADS)
            mass += p[i] >= middle ? p[i] : 0.0f;
        mass = block_reduce(mass, Sum(), scratch);
        if (mass >= wanted)
            low = middle;
        else
            high = middle;
    }
    float mass = 0.0f;
    for (int i = threadIdx.x; i < vocab; i += THREADS) {
        float kept = p[i] >= low ? p[i] : 0.0f;
        p[i] = kept;
        mass += kept;
    }
    mass = block_reduce(mass, Sum(), scratch);

    if (threadIdx.x == 0)
        chosen = vocab;
    __syncthreads();
    float target = uniform[row] * mass, running = 0.0f;
    for (int start = 0; start < vocab; start += THREADS) {
        int i = start + threadIdx.x;
        float x = i < vocab ? p[i] : 0.0f, all;
        float upto = running + block_scan(x, scratch, all);
        if (x > 0.0f && upto > target)
            atomicMin(&chosen, i);
        __syncthreads();
        if (chosen < vocab)
            break;
        running += all;
    }
    float inverse = 1.0f / mass;
    for (int i = threadIdx.x; i < vocab; i += THREADS)
        p[i] *= inverse;
    if (threadIdx.x == 0)
        tokens[row] = chosen;
}

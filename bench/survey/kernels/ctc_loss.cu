// The loss of connectionist temporal classification: log-softmax by a warp for each frame, then the forward
// recursion over the label with blanks between, a block for each utterance and a thread for each state.
#define MAX_STATES 128
#define BLANK 0

extern "C" __global__ void ctc_log_softmax(const float *__restrict__ logits, float *__restrict__ log_probs, int rows,
                                           int classes) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *x = logits + (size_t)row * classes;
    float *y = log_probs + (size_t)row * classes;
    float best = -INFINITY;
    for (int c = lane; c < classes; c += 32)
        best = fmaxf(best, x[c]);
    for (int offset = 16; offset; offset >>= 1)
        best = fmaxf(best, __shfl_xor_sync(~0u, best, offset));
    float sum = 0.0f;
    for (int c = lane; c < classes; c += 32)
        sum += expf(x[c] - best);
    for (int offset = 16; offset; offset >>= 1)
        sum += __shfl_xor_sync(~0u, sum, offset);
    float norm = best + logf(sum);
    for (int c = lane; c < classes; c += 32)
        y[c] = x[c] - norm;
}

__device__ float log_add(float a, float b) {
    float high = fmaxf(a, b), low = fminf(a, b);
    return high == -INFINITY ? -INFINITY : high + log1pf(expf(low - high));
}

__device__ float log_add(float a, float b, float c) {
    float best = fmaxf(fmaxf(a, b), c);
    if (best == -INFINITY)
        return -INFINITY;
    return best + logf(expf(a - best) + expf(b - best) + expf(c - best));
}

// log_probs: [frames][batch][classes]
extern "C" __global__ void ctc_alpha(const float *__restrict__ log_probs, const int *__restrict__ targets,
                                     const int *__restrict__ target_start, const int *__restrict__ frame_count,
                                     float *__restrict__ loss, int batch, int classes) {
    __shared__ float alpha[2][MAX_STATES + 2];
    int b = blockIdx.x, s = threadIdx.x;
    const int *target = targets + target_start[b];
    int length = target_start[b + 1] - target_start[b], frames = frame_count[b];
    int states = 2 * length + 1;

    int label = BLANK;
    bool skip = false;
    if (s < states && s % 2 == 1) {
        label = target[s / 2];
        skip = s >= 3 && label != target[s / 2 - 1];
    }
    if (s < 2)
        alpha[0][s] = alpha[1][s] = -INFINITY;
    // a state's place is s + 2: the two before the first are never reached
    float mine = -INFINITY;
    if (s < 2 && s < states)
        mine = log_probs[(size_t)b * classes + label];
    alpha[0][s + 2] = mine;
    __syncthreads();
    int now = 0;
    for (int t = 1; t < frames; t++) {
        if (s < states) {
            float stay = alpha[now][s + 2], step = alpha[now][s + 1];
            float jump = skip ? alpha[now][s] : -INFINITY;
            alpha[now ^ 1][s + 2] = log_add(stay, step, jump) + log_probs[((size_t)t * batch + b) * classes + label];
        }
        now ^= 1;
        __syncthreads();
    }
    if (s == 0) {
        float end = alpha[now][states + 1];
        if (length > 0)
            end = log_add(end, alpha[now][states]);
        loss[b] = end == -INFINITY ? 0.0f : -end;
    }
}

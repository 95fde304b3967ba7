// A mixture of experts: each token's two best experts, rows grouped by expert, and their sums.
extern "C" __global__ void moe_gate(const float *logits, int *expert, float *weight, int *counts, int tokens,
                                    int experts) {
    int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= tokens)
        return;
    const float *row = logits + token * experts;
    int first = -1, second = -1;
    float best = -1e30f, next = -1e30f;
    for (int e = 0; e < experts; e++) {
        float v = row[e];
        if (v > best) {
            next = best;
            second = first;
            best = v;
            first = e;
        } else if (v > next) {
            next = v;
            second = e;
        }
    }
    float ratio = expf(next - best);
    expert[2 * token] = first;
    expert[2 * token + 1] = second;
    weight[2 * token] = 1.0f / (1.0f + ratio);
    weight[2 * token + 1] = ratio / (1.0f + ratio);
    atomicAdd(&counts[first], 1);
    atomicAdd(&counts[second], 1);
}

extern "C" __global__ void moe_offsets(const int *counts, int *offsets, int *cursor, int experts) {
    int e = threadIdx.x;
    if (e > experts)
        return;
    int sum = 0;
    for (int i = 0; i < e; i++)
        sum += counts[i];
    offsets[e] = sum;
    if (e < experts)
        cursor[e] = sum;
}

extern "C" __global__ void moe_scatter(const float *x, const int *expert, int *cursor, int *slot, float *buffer,
                                       int dim) {
    __shared__ int place[2];
    int token = blockIdx.x;
    if (threadIdx.x < 2) {
        int p = atomicAdd(&cursor[expert[2 * token + threadIdx.x]], 1);
        slot[2 * token + threadIdx.x] = p;
        place[threadIdx.x] = p;
    }
    __syncthreads();
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float v = x[(size_t)token * dim + d];
        buffer[(size_t)place[0] * dim + d] = v;
        buffer[(size_t)place[1] * dim + d] = v;
    }
}

// Stands for the experts' layers.
extern "C" __global__ void moe_expert(float *buffer, const int *offsets, const float *scale, int dim) {
    int e = blockIdx.y, d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= dim)
        return;
    float s = scale[e * dim + d];
    for (int row = offsets[e]; row < offsets[e + 1]; row++)
        buffer[(size_t)row * dim + d] = fmaxf(buffer[(size_t)row * dim + d] * s, 0.0f);
}

extern "C" __global__ void moe_combine(const float *buffer, const int *slot, const float *weight, float *out,
                                       int dim) {
    int token = blockIdx.x;
    const float *a = buffer + (size_t)slot[2 * token] * dim, *b = buffer + (size_t)slot[2 * token + 1] * dim;
    float wa = weight[2 * token], wb = weight[2 * token + 1];
    for (int d = threadIdx.x; d < dim; d += blockDim.x)
        out[(size_t)token * dim + d] = wa * a[d] + wb * b[d];
}

// Mamba-2's state space duality by chunks: sums of dt * A within chunks, the state that each chunk adds, states passed
// from chunk to chunk, and outputs of within and before. x: [length][heads][P], B and C: [length][N], shared by heads.
#define Q 64
#define P 32
#define N 32

__device__ __forceinline__ float softplus(float v) {
    return v > 20.0f ? v : log1pf(expf(v));
}

// Block: Q threads; grid: chunks, heads.
extern "C" __global__ void ssd_cumsum(const float *__restrict__ dt_raw, const float *__restrict__ dt_bias,
                                      const float *__restrict__ a_log, float *__restrict__ dt, float *__restrict__ da,
                                      int length, int heads) {
    __shared__ float sums[2][Q];
    int chunk = blockIdx.x, h = blockIdx.y, t = threadIdx.x, token = chunk * Q + t;
    float step = token < length ? softplus(dt_raw[token * heads + h] + dt_bias[h]) : 0.0f;
    size_t at = ((size_t)h * gridDim.x + chunk) * Q + t;
    dt[at] = step;
    int from = 0;
    sums[0][t] = -expf(a_log[h]) * step;
    for (int offset = 1; offset < Q; offset *= 2) {
        __syncthreads();
        sums[1 - from][t] = t >= offset ? sums[from][t] + sums[from][t - offset] : sums[from][t];
        from = 1 - from;
    }
    da[at] = sums[from][t];
}

// Block: (P, 8), a thread N / 8 elements of the state.
extern "C" __global__ void ssd_states(const float *__restrict__ x, const float *__restrict__ b,
                                      const float *__restrict__ dt, const float *__restrict__ da,
                                      float *__restrict__ states, int length, int heads) {
    __shared__ float weight[Q];
    int chunk = blockIdx.x, h = blockIdx.y, p = threadIdx.x, row = threadIdx.y;
    size_t at = ((size_t)h * gridDim.x + chunk) * Q;
    int tid = row * P + p;
    if (tid < Q)
        weight[tid] = expf(da[at + Q - 1] - da[at + tid]) * dt[at + tid];
    __syncthreads();
    int count = min(Q, length - chunk * Q);
    float acc[N / 8] = {0.0f};
    for (int t = 0; t < count; t++) {
        int token = chunk * Q + t;
        float v = x[((size_t)token * heads + h) * P + p] * weight[t];
#pragma unroll
        for (int j = 0; j < N / 8; j++)
            acc[j] += b[token * N + row + 8 * j] * v;
    }
    float *state = states + ((size_t)h * gridDim.x + chunk) * N * P;
#pragma unroll
    for (int j = 0; j < N / 8; j++)
        state[(row + 8 * j) * P + p] = acc[j];
}

// What was before each chunk takes the place of what the chunk adds. A thread an element of the state.
extern "C" __global__ void ssd_pass(float *__restrict__ states, const float *__restrict__ da, int chunks) {
    int h = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    float carried = 0.0f;
    for (int c = 0; c < chunks; c++) {
        size_t at = (size_t)h * chunks + c;
        float added = states[at * N * P + i];
        states[at * N * P + i] = carried;
        carried = carried * expf(da[at * Q + Q - 1]) + added;
    }
}

// Block: (P, 8); grid: chunks, heads.
extern "C" __global__ void ssd_scan(const float *__restrict__ x, const float *__restrict__ b,
                                    const float *__restrict__ c, const float *__restrict__ dt,
                                    const float *__restrict__ da, const float *__restrict__ states,
                                    const float *__restrict__ d_skip, float *__restrict__ y, int length, int heads) {
    __shared__ float sb[Q][N + 1], sc[Q][N + 1], sx[Q][P], cb[8][Q], sda[Q], sdt[Q];
    int chunk = blockIdx.x, h = blockIdx.y, p = threadIdx.x, row = threadIdx.y, tid = row * P + p;
    size_t at = (size_t)h * gridDim.x + chunk;
    const float *state = states + at * N * P;
    for (int i = tid; i < Q * N; i += 256) {
        int t = i / N, token = chunk * Q + t;
        sb[t][i % N] = token < length ? b[token * N + i % N] : 0.0f;
        sc[t][i % N] = token < length ? c[token * N + i % N] : 0.0f;
        sx[t][i % N] = token < length ? x[((size_t)token * heads + h) * P + i % N] : 0.0f;
    }
    if (tid < Q) {
        sda[tid] = da[at * Q + tid];
        sdt[tid] = dt[at * Q + tid];
    }
    __syncthreads();
    for (int first = 0; first < Q; first += 8) {
        int t = first + row;
        for (int s = p; s <= t; s += P) {
            float dot = 0.0f;
            for (int n = 0; n < N; n++)
                dot += sc[t][n] * sb[s][n];
            cb[row][s] = dot * expf(sda[t] - sda[s]) * sdt[s];
        }
        __syncthreads();
        float acc = 0.0f, before = 0.0f;
        for (int s = 0; s <= t; s++)
            acc += cb[row][s] * sx[s][p];
        for (int n = 0; n < N; n++)
            before += sc[t][n] * state[n * P + p];
        int token = chunk * Q + t;
        if (token < length)
            y[((size_t)token * heads + h) * P + p] = acc + before * expf(sda[t]) + d_skip[h] * sx[t][p];
        __syncthreads();
    }
}

// The loss of a transducer (RNN-T) and its gradient: sums of exponentials by a warp a row, forward and backward variables
// by a block a sequence over diagonals, then gradients of the logits.
#define BLANK 0
#define NEG_INF __int_as_float(0xff800000)

namespace rnnt {
__device__ __forceinline__ float log_sum_exp(float a, float b) {
    if (a == NEG_INF)
        return b;
    if (b == NEG_INF)
        return a;
    return a > b ? a + log1pf(expf(b - a)) : b + log1pf(expf(a - b));
}

struct Probs {
    const float *acts, *denom;
    const int *labels;
    int maxT, maxU, V, b;
    __device__ int row(int t, int u) const { return (b * maxT + t) * maxU + u; }
    __device__ float blank(int t, int u) const { return acts[(size_t)row(t, u) * V + BLANK] + denom[row(t, u)]; }
    __device__ float emit(int t, int u) const {
        return acts[(size_t)row(t, u) * V + labels[b * (maxU - 1) + u]] + denom[row(t, u)];
    }
};
}  // namespace rnnt

extern "C" __global__ void rnnt_denom(const float *__restrict__ acts, float *denom, int rows, int V) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const float *x = acts + (size_t)row * V;
    float top = NEG_INF;
    for (int i = threadIdx.x; i < V; i += 32)
        top = fmaxf(top, x[i]);
#pragma unroll
    for (int d = 16; d; d >>= 1)
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
    float sum = 0.0f;
    for (int i = threadIdx.x; i < V; i += 32)
        sum += expf(x[i] - top);
#pragma unroll
    for (int d = 16; d; d >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0)
        denom[row] = -top - logf(sum);
}

extern "C" __global__ void rnnt_alphas(const float *acts, const float *denom, const int *labels, const int *T_len,
                                       const int *U_len, float *alphas, float *costs, int maxT, int maxU, int V) {
    const int b = blockIdx.x, u = threadIdx.x, T = T_len[b], U = U_len[b] + 1;
    rnnt::Probs p = {acts, denom, labels, maxT, maxU, V, b};
    alphas += b * maxT * maxU;
    if (u == 0)
        alphas[0] = 0;
    __syncthreads();
    for (int n = 1; n < T + U - 1; n++) {
        const int t = n - u;
        if (u < U && t >= 0 && t < T) {
            if (u == 0)
                alphas[t * maxU] = alphas[(t - 1) * maxU] + p.blank(t - 1, 0);
            else if (t == 0)
                alphas[u] = alphas[u - 1] + p.emit(0, u - 1);
            else
                alphas[t * maxU + u] = rnnt::log_sum_exp(alphas[(t - 1) * maxU + u] + p.blank(t - 1, u),
                                                         alphas[t * maxU + u - 1] + p.emit(t, u - 1));
        }
        __syncthreads();
    }
    if (u == 0)
        costs[b] = -(alphas[(T - 1) * maxU + U - 1] + p.blank(T - 1, U - 1));
}

extern "C" __global__ void rnnt_betas(const float *acts, const float *denom, const int *labels, const int *T_len,
                                      const int *U_len, float *betas, int maxT, int maxU, int V) {
    const int b = blockIdx.x, u = threadIdx.x, T = T_len[b], U = U_len[b] + 1;
    rnnt::Probs p = {acts, denom, labels, maxT, maxU, V, b};
    betas += b * maxT * maxU;
    if (u == 0)
        betas[(T - 1) * maxU + U - 1] = p.blank(T - 1, U - 1);
    __syncthreads();
    for (int n = T + U - 3; n >= 0; n--) {
        const int t = n - u;
        if (u < U && t >= 0 && t < T) {
            if (u == U - 1)
                betas[t * maxU + u] = betas[(t + 1) * maxU + u] + p.blank(t, u);
            else if (t == T - 1)
                betas[t * maxU + u] = betas[t * maxU + u + 1] + p.emit(t, u);
            else
                betas[t * maxU + u] = rnnt::log_sum_exp(betas[(t + 1) * maxU + u] + p.blank(t, u),
                                                        betas[t * maxU + u + 1] + p.emit(t, u));
        }
        __syncthreads();
    }
}

extern "C" __global__ void rnnt_grads(const float *__restrict__ acts, const float *__restrict__ denom,
                                      const float *__restrict__ alphas, const float *__restrict__ betas,
                                      const int *__restrict__ labels, const int *__restrict__ T_len,
                                      const int *__restrict__ U_len, const float *__restrict__ costs, float *grads,
                                      int maxT, int maxU, int V) {
    const int row = blockIdx.x, u = row % maxU, t = row / maxU % maxT, b = row / maxU / maxT;
    const int T = T_len[b], U = U_len[b] + 1;
    float *out = grads + (size_t)row * V;
    if (t >= T || u >= U) {
        for (int v = threadIdx.x; v < V; v += blockDim.x)
            out[v] = 0;
        return;
    }
    const float alpha = alphas[row], beta = betas[row], ll = -costs[b], den = denom[row];
    for (int v = threadIdx.x; v < V; v += blockDim.x) {
        const float logp = acts[(size_t)row * V + v] + den;
        float grad = expf(alpha + beta + logp - ll);
        if (v == BLANK) {
            if (t == T - 1 && u == U - 1)
                grad -= expf(alpha + logp - ll);
            else if (t < T - 1)
                grad -= expf(alpha + logp - ll + betas[row + maxU]);
        } else if (u < U - 1 && v == labels[b * (maxU - 1) + u])
            grad -= expf(alpha + logp - ll + betas[row + 1]);
        out[v] = grad;
    }
}

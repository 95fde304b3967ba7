// The likeliest path's score through 64 states, a CTA for each sequence of observations.
#define S 64

extern "C" __global__ void viterbi(const float *move, const float *emit, const unsigned char *seen,
                                   unsigned char *from, float *score, int length) {
    __shared__ float last[S], next[S];
    int s = threadIdx.x;
    const unsigned char *o = seen + blockIdx.x * length;
    last[s] = emit[o[0] * S + s];
    __syncthreads();
    for (int t = 1; t < length; t++) {
        float best = -1e30f;
        int which = 0;
        for (int k = 0; k < S; k++) {
            float v = last[k] + move[k * S + s];
            if (v > best) {
                best = v;
                which = k;
            }
        }
        next[s] = best + emit[o[t] * S + s];
        from[((size_t)blockIdx.x * length + t) * S + s] = which;
        __syncthreads();
        last[s] = next[s];
        __syncthreads();
    }
    score[blockIdx.x * S + s] = last[s];
}

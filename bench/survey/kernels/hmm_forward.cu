// Likelihoods of sequences by a hidden Markov model's forward algorithm: a block for each sequence, a thread for each
// state; each step's probabilities are divided by their sum.
extern "C" __global__ void hmm_forward(const float *start, const float *transition, const float *emission,
                                       const unsigned char *symbols, const int *offsets, float *log_likelihood,
                                       int states) {
    extern __shared__ float shared[];
    float *alpha = shared;                // one for each state
    float *partial = shared + blockDim.x; // to be summed
    int j = threadIdx.x;
    const unsigned char *seen = symbols + offsets[blockIdx.x];
    int length = offsets[blockIdx.x + 1] - offsets[blockIdx.x];
    float result = 0.0f;

    for (int t = 0; t < length; t++) {
        float p = 0.0f;
        if (j < states) {
            if (t == 0) {
                p = start[j];
            } else {
                for (int i = 0; i < states; i++)
                    p += alpha[i] * transition[i * states + j];
            }
            p *= emission[seen[t] * states + j];
        }
        partial[j] = p;
        __syncthreads();
        for (int s = blockDim.x / 2; s > 0; s >>= 1) {
            if (j < s)
                partial[j] += partial[j + s];
            __syncthreads();
        }
        float scale = partial[0];
        alpha[j] = p / scale;
        if (j == 0)
            result += logf(scale);
        __syncthreads();
    }
    if (j == 0)
        log_likelihood[blockIdx.x] = result;
}

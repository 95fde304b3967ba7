// Mean and variance of each channel over images and pixels, a CTA a channel.
extern "C" __global__ void bn_stats(const float *x, float *mean, float *var, int n, int c, int hw) {
    __shared__ float s[256], q[256];
    int ch = blockIdx.x, t = threadIdx.x;
    float sum = 0.0f, square = 0.0f;
    for (int i = 0; i < n; i++)
        for (int k = t; k < hw; k += blockDim.x) {
            float v = x[(i * c + ch) * hw + k];
            sum += v;
            square += v * v;
        }
    s[t] = sum;
    q[t] = square;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) {
            s[t] += s[t + k];
            q[t] += q[t + k];
        }
        __syncthreads();
    }
    if (t == 0) {
        mean[ch] = s[0] / (n * hw);
        var[ch] = q[0] / (n * hw) - mean[ch] * mean[ch];
    }
}

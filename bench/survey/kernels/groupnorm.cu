// Groups of channels brought to mean 0 and variance 1: a CTA for each group of each picture.
extern "C" __global__ void groupnorm(const float *x, const float *gamma, const float *beta, float *y, int channels,
                                     int groups, int area, float eps) {
    __shared__ float sums[256], squares[256];
    int n = blockIdx.x / groups, g = blockIdx.x % groups, t = threadIdx.x;
    int each = channels / groups;
    size_t count = (size_t)each * area;
    size_t start = ((size_t)n * channels + (size_t)g * each) * area;

    float sum = 0.0f, square = 0.0f;
    for (size_t i = t; i < count; i += blockDim.x) {
        float v = x[start + i];
        sum += v;
        square += v * v;
    }
    sums[t] = sum;
    squares[t] = square;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) {
            sums[t] += sums[t + s];
            squares[t] += squares[t + s];
        }
        __syncthreads();
    }
    float mean = sums[0] / count, variance = squares[0] / count - mean * mean;
    float inv = rsqrtf(variance + eps);
    for (size_t i = t; i < count; i += blockDim.x) {
        int c = g * each + i / area;
        y[start + i] = (x[start + i] - mean) * inv * gamma[c] + beta[c];
    }
}

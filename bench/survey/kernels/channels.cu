// Scale, bias and leaky unit by channel, of images whose sizes are known: 14 x 14 and 7 x 7 pixels.
template <int PIXELS, int CHANNELS>
__device__ void scaled(const float *x, const float *scale, const float *bias, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int c = (i / PIXELS) % CHANNELS;
        float v = x[i] * scale[c] + bias[c];
        y[i] = v > 0 ? v : 0.1f * v;
    }
}

extern "C" __global__ void large(const float *x, const float *scale, const float *bias, float *y, int n) {
    scaled<196, 24>(x, scale, bias, y, n);
}

extern "C" __global__ void small(const float *x, const float *scale, const float *bias, float *y, int n) {
    scaled<49, 96>(x, scale, bias, y, n);
}

// A filter along a row of numbers; what lies beyond the ends counts as zero.
extern "C" __global__ void conv1d_same(const float *in, const float *mask, float *out, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    int start = i - width / 2;
    for (int j = 0; j < width; j++)
        if (start + j >= 0 && start + j < n)
            sum += in[start + j] * mask[j];
    out[i] = sum;
}

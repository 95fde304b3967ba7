// Pixels of three bytes to three planes of numbers, normalised.
extern "C" __global__ void planes(const unsigned char *in, float *out, const float *mean, const float *scale,
                                  int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int c = 0; c < 3; c++)
        out[c * n + i] = (in[3 * i + c] / 255.0f - mean[c]) * scale[c];
}

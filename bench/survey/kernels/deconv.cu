// Transposed convolution with a stride and padding: a thread for each output element gathers what meets it.
extern "C" __global__ void deconv(const float *input, const float *weight, const float *bias, float *output,
                                  int batch, int in_channels, int out_channels, int in_h, int in_w, int kernel,
                                  int stride, int padding, int out_h, int out_w) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= batch * out_channels * out_h * out_w)
        return;
    int ox = index % out_w;
    int oy = index / out_w % out_h;
    int oc = index / (out_w * out_h) % out_channels;
    int n = index / (out_w * out_h * out_channels);
    float sum = bias[oc];
    for (int ic = 0; ic < in_channels; ic++) {
        const float *plane = input + (n * in_channels + ic) * in_h * in_w;
        const float *w = weight + (ic * out_channels + oc) * kernel * kernel;
        for (int ky = 0; ky < kernel; ky++) {
            int y = oy + padding - ky;
            if (y < 0 || y % stride != 0)
                continue;
            y /= stride;
            if (y >= in_h)
                continue;
            for (int kx = 0; kx < kernel; kx++) {
                int x = ox + padding - kx;
                if (x < 0 || x % stride != 0)
                    continue;
                x /= stride;
                if (x < in_w)
                    sum += plane[y * in_w + x] * w[ky * kernel + kx];
            }
        }
    }
    output[index] = sum;
}

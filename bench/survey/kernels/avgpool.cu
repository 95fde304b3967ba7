// Means of 2 x 2 pixels of all channels of all images, a thread for each.
extern "C" __global__ void avgpool(const float *in, float *out, int n, int c, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, oh = h / 2, ow = w / 2;
    if (i >= n * c * oh * ow)
        return;
    int x = i % ow, y = i / ow % oh, plane = i / (ow * oh);
    float sum = 0.0f;
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++)
            sum += in[(plane * h + 2 * y + dy) * w + 2 * x + dx];
    out[i] = sum / 4.0f;
}

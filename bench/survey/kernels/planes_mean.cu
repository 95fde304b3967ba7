// Means of 3 x 3 pixels of padded planes: the index of an output is cut into column, row and plane.
#define W 28

extern "C" __global__ void means(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = i % W, y = (i / W) % W, plane = i / (W * W);
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += in[(plane * (W + 2) + y + dy) * (W + 2) + x + dx];
    out[i] = sum / 9;
}

// A filter of a picture, as in Kirk and Hwu's book: each thread tests each tap.
extern "C" __global__ void conv2d_basic(const float *in, const float *filter, float *out, int r, int width, int height) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || col >= width)
        return;
    float value = 0.0f;
    for (int fr = 0; fr < 2 * r + 1; fr++)
        for (int fc = 0; fc < 2 * r + 1; fc++) {
            int ir = row - r + fr, ic = col - r + fc;
            if (ir >= 0 && ir < height && ic >= 0 && ic < width)
                value += filter[fr * (2 * r + 1) + fc] * in[ir * width + ic];
        }
    out[row * width + col] = value;
}

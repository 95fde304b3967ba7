// The game of life on a torus, with remainders.
extern "C" __global__ void life_mod(const int *in, int *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                n += in[(y + dy + h) % h * w + (x + dx + w) % w];
    int i = y * w + x;
    out[i] = n == 3 || (n == 2 && in[i]);
}

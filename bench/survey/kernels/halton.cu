extern "C" __global__ void halton(float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int d = 0; d < 2; d++) {
        int base = d ? 5 : 3;
        float f = 1, r = 0;
        for (int k = i + 1; k > 0; k /= base) {
            f /= base;
            r += f * (k % base);
        }
        o[d * n + i] = r;
    }
}

extern "C" __global__ void loss(const float *z, const int *labels, float *o, int n, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *p = z + i * classes;
    float m = p[0];
    for (int c = 1; c < classes; c++)
        m = fmaxf(m, p[c]);
    float s = 0;
    for (int c = 0; c < classes; c++)
        s += expf(p[c] - m);
    o[i] = logf(s) + m - p[labels[i]];
}

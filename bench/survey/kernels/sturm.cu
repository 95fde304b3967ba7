extern "C" __global__ void count(const float *d, const float *e2, const float *x, int *o, int n, int m) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m)
        return;
    float q = 1, v = x[t];
    int c = 0;
    for (int i = 0; i < n; i++) {
        q = d[i] - v - e2[i] / q;
        if (fabsf(q) < 1e-20f)
            q = -1e-20f;
        c += q < 0;
    }
    o[t] = c;
}

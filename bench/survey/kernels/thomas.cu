extern "C" __global__ void solve(const float *a, const float *b, const float *c, float *d, float *w, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    float q = c[i] / b[i], r = d[i] / b[i];
    w[i] = q;
    d[i] = r;
    for (int k = 1; k < n; k++) {
        int at = k * m + i;
        float s = 1.0f / (b[at] - a[at] * q);
        q = c[at] * s;
        r = (d[at] - a[at] * r) * s;
        w[at] = q;
        d[at] = r;
    }
    for (int k = n - 2; k >= 0; k--) {
        int at = k * m + i;
        r = d[at] - w[at] * r;
        d[at] = r;
    }
}

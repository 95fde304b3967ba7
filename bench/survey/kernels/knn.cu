extern "C" __global__ void knn(const float *__restrict__ x, const float *__restrict__ y, int *__restrict__ out, int n,
                               int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best[8];
    int at[8];
    for (int k = 0; k < 8; k++)
        best[k] = 1e30f, at[k] = -1;
    for (int j = 0; j < m; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i], d = dx * dx + dy * dy;
        if (d >= best[7])
            continue;
        int k = 7;
        for (; k > 0 && best[k - 1] > d; k--)
            best[k] = best[k - 1], at[k] = at[k - 1];
        best[k] = d;
        at[k] = j;
    }
    for (int k = 0; k < 8; k++)
        out[k * n + i] = at[k];
}

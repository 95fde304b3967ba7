extern "C" __global__ void ell(const int *__restrict__ col, const float *__restrict__ val,
                               const float *__restrict__ x, float *y, int rows, int k) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float s = 0;
    for (int j = 0; j < k; j++) {
        int c = col[j * rows + r];
        if (c >= 0)
            s += val[j * rows + r] * x[c];
    }
    y[r] = s;
}

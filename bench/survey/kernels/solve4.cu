extern "C" __global__ void solve(const float *a, const float *b, float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float m[4][5];
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            m[r][c] = a[i * 16 + r * 4 + c];
        m[r][4] = b[i * 4 + r];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float p = 1 / m[k][k];
#pragma unroll
        for (int c = k; c < 5; c++)
            m[k][c] *= p;
#pragma unroll
        for (int r = 0; r < 4; r++)
            if (r != k) {
                float f = m[r][k];
#pragma unroll
                for (int c = k; c < 5; c++)
                    m[r][c] -= f * m[k][c];
            }
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
        x[i * 4 + r] = m[r][4];
}

// Cholesky factors of many matrices of 16 x 16: sixteen threads and a part of shared memory for each.
#define N 16

extern "C" __global__ void cholesky16(const float *__restrict__ in, float *__restrict__ out, int count) {
    __shared__ float tiles[8][N][N + 1];
    int which = blockIdx.x * 8 + threadIdx.y, row = threadIdx.x;
    float(*m)[N + 1] = tiles[threadIdx.y];
    if (which < count)
        for (int j = 0; j < N; j++)
            m[j][row] = in[(size_t)which * N * N + j * N + row];
    __syncthreads();
    for (int k = 0; k < N; k++) {
        if (row == k)
            m[k][k] = sqrtf(m[k][k]);
        __syncthreads();
        if (row > k)
            m[row][k] /= m[k][k];
        __syncthreads();
        for (int j = k + 1; j <= row; j++)
            m[row][j] -= m[row][k] * m[j][k];
        __syncthreads();
    }
    if (which < count)
        for (int j = 0; j < N; j++)
            out[(size_t)which * N * N + j * N + row] = row <= j ? m[j][row] : 0.0f;
}

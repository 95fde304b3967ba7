// One step of LU factors by blocks of 16: the diagonal block, the perimeter, what is left.
#define B 16

extern "C" __global__ void diagonal(float *m, int n, int at) {
    __shared__ float s[B][B];
    int tid = threadIdx.x;
    for (int i = 0; i < B; i++)
        s[i][tid] = m[(at + i) * n + at + tid];
    __syncthreads();
    for (int i = 0; i < B - 1; i++) {
        if (tid > i) {
            for (int j = 0; j < i; j++)
                s[tid][i] -= s[tid][j] * s[j][i];
            s[tid][i] /= s[i][i];
        }
        __syncthreads();
        if (tid > i)
            for (int j = 0; j < i + 1; j++)
                s[i + 1][tid] -= s[i + 1][j] * s[j][tid];
        __syncthreads();
    }
    for (int i = 1; i < B; i++)
        m[(at + i) * n + at + tid] = s[i][tid];
}

extern "C" __global__ void perimeter(float *m, int n, int at) {
    __shared__ float dia[B][B], row[B][B], col[B][B];
    int half = threadIdx.x / B, idx = threadIdx.x % B, beyond = at + (blockIdx.x + 1) * B;
    if (half == 0)
        for (int i = 0; i < B; i++)
            dia[i][idx] = m[(at + i) * n + at + idx];
    for (int i = half; i < B; i += 2) {
        row[i][idx] = m[(at + i) * n + beyond + idx];
        col[i][idx] = m[(beyond + i) * n + at + idx];
    }
    __syncthreads();
    if (half == 0) {
        for (int i = 1; i < B; i++)
            for (int j = 0; j < i; j++)
                row[i][idx] -= dia[i][j] * row[j][idx];
    } else {
        for (int i = 0; i < B; i++) {
            for (int j = 0; j < i; j++)
                col[idx][i] -= col[idx][j] * dia[j][i];
            col[idx][i] /= dia[i][i];
        }
    }
    __syncthreads();
    for (int i = half; i < B; i += 2) {
        m[(at + i) * n + beyond + idx] = row[i][idx];
        m[(beyond + i) * n + at + idx] = col[i][idx];
    }
}

extern "C" __global__ void internal(float *m, int n, int at) {
    __shared__ float row[B][B], col[B][B];
    int tx = threadIdx.x, ty = threadIdx.y, y = at + (blockIdx.y + 1) * B, x = at + (blockIdx.x + 1) * B;
    row[ty][tx] = m[(at + ty) * n + x + tx];
    col[ty][tx] = m[(y + ty) * n + at + tx];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < B; i++)
        sum += col[ty][i] * row[i][tx];
    m[(y + ty) * n + x + tx] -= sum;
}

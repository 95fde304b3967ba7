// Inverses of 24 x 24 matrices by Gauss and Jordan, with pivots: a CTA for each, all in shared memory.
#define N 24

extern "C" __global__ void invert(const double *a, double *out) {
    __shared__ double m[N][2 * N], factor[N];
    __shared__ int pivot;
    const double *from = a + blockIdx.x * N * N;
    int t = threadIdx.x;
    for (int i = t; i < N * N; i += blockDim.x) {
        m[i / N][i % N] = from[i];
        m[i / N][N + i % N] = i / N == i % N;
    }
    __syncthreads();
    for (int k = 0; k < N; k++) {
        if (t == 0) {
            int p = k;
            for (int i = k + 1; i < N; i++)
                if (fabs(m[i][k]) > fabs(m[p][k]))
                    p = i;
            pivot = p;
        }
        __syncthreads();
        if (pivot != k)
            for (int j = t; j < 2 * N; j += blockDim.x) {
                double x = m[k][j];
                m[k][j] = m[pivot][j];
                m[pivot][j] = x;
            }
        __syncthreads();
        double d = m[k][k];
        if (t < N)
            factor[t] = m[t][k];
        __syncthreads();
        for (int j = t; j < 2 * N; j += blockDim.x)
            m[k][j] /= d;
        __syncthreads();
        for (int i = t; i < N * 2 * N; i += blockDim.x) {
            int row = i / (2 * N), column = i % (2 * N);
            if (row != k)
                m[row][column] -= factor[row] * m[k][column];
        }
        __syncthreads();
    }
    for (int i = t; i < N * N; i += blockDim.x)
        out[blockIdx.x * N * N + i] = m[i / N][N + i % N];
}

// The triangle of a QR decomposition of 32 x 16 matrices by reflections: one thread makes a reflection, each
// of 16 threads goes through its own column, which lies in a row of shared memory.
#define ROWS 32
#define COLUMNS 16

extern "C" __global__ void triangle(const float *a, float *r) {
    __shared__ float s[COLUMNS][ROWS], v[ROWS], beta;
    const float *from = a + blockIdx.x * ROWS * COLUMNS;
    int t = threadIdx.x;
    for (int i = t; i < ROWS * COLUMNS; i += blockDim.x)
        s[i / ROWS][i % ROWS] = from[i];
    __syncthreads();
    for (int k = 0; k < COLUMNS; k++) {
        if (t == 0) {
            float n = 0;
            for (int i = k; i < ROWS; i++)
                n += s[k][i] * s[k][i];
            float alpha = s[k][k] > 0 ? -sqrtf(n) : sqrtf(n), first = s[k][k] - alpha;
            for (int i = k + 1; i < ROWS; i++)
                v[i] = s[k][i] / first;
            v[k] = 1;
            beta = -first / alpha;
        }
        __syncthreads();
        if (t >= k && t < COLUMNS) {
            float d = 0;
            for (int i = k; i < ROWS; i++)
                d += v[i] * s[t][i];
            d *= beta;
            for (int i = k; i < ROWS; i++)
                s[t][i] -= d * v[i];
        }
        __syncthreads();
    }
    for (int i = t; i < COLUMNS * COLUMNS; i += blockDim.x)
        r[blockIdx.x * COLUMNS * COLUMNS + i] = i / COLUMNS <= i % COLUMNS ? s[i % COLUMNS][i / COLUMNS] : 0;
}

// Norms of rows: CTAs of 32 x 8 threads, a row of threads for each, sums through shared memory.
extern "C" __global__ void rows2d(const float *in, float *out, int rows, int columns) {
    __shared__ float s[8][33];
    int row = blockIdx.x * blockDim.y + threadIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0.0f;
    if (row < rows)
        for (int k = tx; k < columns; k += 32)
            sum += in[row * columns + k] * in[row * columns + k];
    s[ty][tx] = sum;
    __syncthreads();
    for (int k = 16; k > 0; k /= 2) {
        if (tx < k)
            s[ty][tx] += s[ty][tx + k];
        __syncthreads();
    }
    if (row < rows && tx == 0)
        out[row] = sqrtf(s[ty][0]);
}

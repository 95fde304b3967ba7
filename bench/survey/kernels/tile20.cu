// A product of matrices by tiles of 20 x 20.
#define T 20

extern "C" __global__ void tile20(const float *a, const float *b, float *c, int n) {
    __shared__ float left[T][T], right[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        left[ty][tx] = a[y * n + k + tx];
        right[ty][tx] = b[(k + ty) * n + x];
        __syncthreads();
        for (int j = 0; j < T; j++)
            sum += left[ty][j] * right[j][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

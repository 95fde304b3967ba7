// C = A B by tiles of 16 x 16, of which those at the edges are filled up with zeros.
#define T 16

extern "C" __global__ void mm_edge(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[T][T], bs[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (k + T - 1) / T; t++) {
        if (row < m && t * T + threadIdx.x < k)
            as[threadIdx.y][threadIdx.x] = a[row * k + t * T + threadIdx.x];
        else
            as[threadIdx.y][threadIdx.x] = 0.0f;
        if (col < n && t * T + threadIdx.y < k)
            bs[threadIdx.y][threadIdx.x] = b[(t * T + threadIdx.y) * n + col];
        else
            bs[threadIdx.y][threadIdx.x] = 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

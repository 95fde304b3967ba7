// C = A B for row-major matrices of any shape: 16x16 tiles in shared memory, two barriers a tile.
#define TILE 16

template <typename T> __device__ void multiply(const T *a, const T *b, T *c, int rows, int inner, int columns)
{
    __shared__ T tile_a[TILE][TILE];
    __shared__ T tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    T sum = 0;
    for (int start = 0; start < inner; start += TILE) {
        tile_a[y][x] = row < rows && start + x < inner ? a[row * inner + start + x] : T(0);
        tile_b[y][x] = start + y < inner && column < columns ? b[(start + y) * columns + column] : T(0);
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}

extern "C" __global__ void matmul_f32(const float *a, const float *b, float *c, int rows, int inner, int columns)
{
    multiply(a, b, c, rows, inner, columns);
}

extern "C" __global__ void matmul_s32(const int *a, const int *b, int *c, int rows, int inner, int columns)
{
    multiply(a, b, c, rows, inner, columns);
}

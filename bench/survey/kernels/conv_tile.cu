// A filter of 7 x 7 from constant memory, by tiles of shared memory with their halo.
#define R 3
#define W 32
#define H 8

__constant__ float weights[2 * R + 1][2 * R + 1] = {
    {0.001f, 0.003f, 0.005f, 0.006f, 0.005f, 0.003f, 0.001f}, {0.003f, 0.012f, 0.022f, 0.028f, 0.022f, 0.012f, 0.003f},
    {0.005f, 0.022f, 0.042f, 0.052f, 0.042f, 0.022f, 0.005f}, {0.006f, 0.028f, 0.052f, 0.065f, 0.052f, 0.028f, 0.006f},
    {0.005f, 0.022f, 0.042f, 0.052f, 0.042f, 0.022f, 0.005f}, {0.003f, 0.012f, 0.022f, 0.028f, 0.022f, 0.012f, 0.003f},
    {0.001f, 0.003f, 0.005f, 0.006f, 0.005f, 0.003f, 0.001f}};

extern "C" __global__ void conv_tile(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    __shared__ float tile[H + 2 * R][W + 2 * R];
    int x0 = blockIdx.x * W - R, y0 = blockIdx.y * H - R;
    for (int y = threadIdx.y; y < H + 2 * R; y += H)
        for (int x = threadIdx.x; x < W + 2 * R; x += W) {
            int gx = x0 + x, gy = y0 + y;
            tile[y][x] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0.0f;
        }
    __syncthreads();
    int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 2 * R + 1; i++)
#pragma unroll
        for (int j = 0; j < 2 * R + 1; j++)
            sum += weights[i][j] * tile[threadIdx.y + i][threadIdx.x + j];
    out[y * w + x] = sum;
}

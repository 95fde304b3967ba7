#define B 16

extern "C" __global__ void jacobi(const float *in, float *out, int n) {
    __shared__ float t[B + 2][B + 2];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    t[ly][lx] = in[y * n + x];
    if (threadIdx.x == 0 && x > 0)
        t[ly][0] = in[y * n + x - 1];
    if (threadIdx.x == B - 1 && x < n - 1)
        t[ly][B + 1] = in[y * n + x + 1];
    if (threadIdx.y == 0 && y > 0)
        t[0][lx] = in[(y - 1) * n + x];
    if (threadIdx.y == B - 1 && y < n - 1)
        t[B + 1][lx] = in[(y + 1) * n + x];
    __syncthreads();
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
        out[y * n + x] = 0.25f * (t[ly][lx - 1] + t[ly][lx + 1] + t[ly - 1][lx] + t[ly + 1][lx]);
    else
        out[y * n + x] = t[ly][lx];
}

// Gauss and Seidel's steps, those of one colour, then those of the other one.
extern "C" __global__ void redblack(float *u, const float *f, int n, int colour) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1 && (x + y) % 2 == colour)
        u[y * n + x] = 0.25f * (u[(y - 1) * n + x] + u[(y + 1) * n + x] + u[y * n + x - 1] + u[y * n + x + 1] - f[y * n + x]);
}

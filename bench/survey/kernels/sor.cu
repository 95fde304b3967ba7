// Red-black successive over-relaxation: one colour a launch, threads by pairs of cells.
extern "C" __global__ void sor(float *u, const float *f, int n, int colour, float omega) {
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((y + colour) & 1);
    if (x < n - 1 && y < n - 1) {
        int i = y * n + x;
        float r = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - f[i]) - u[i];
        u[i] += omega * r;
    }
}

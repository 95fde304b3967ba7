// Multigrid: the residual on a coarse grid, each point from 27 of the fine one, weights 1/2 by distance.
extern "C" __global__ void restrict3(const float *fine, float *coarse, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z, m = n / 2;
    if (x < 1 || y < 1 || z < 1 || x >= m || y >= m || z >= m)
        return;
    float sum = 0;
    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                float w = 1.0f / (float)(8 << ((i != 0) + (j != 0) + (k != 0)));
                sum += w * fine[((2 * z + k) * n + 2 * y + j) * n + 2 * x + i];
            }
    coarse[(z * m + y) * m + x] = sum;
}

extern "C" __global__ void conv(const float *a, float *b, int ni, int nj, int nk) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    for (int i = 1; i < ni - 1; i++)
        if (j > 0 && j < nj - 1 && k > 0 && k < nk - 1) {
            const float *p = a + (i * nj + j) * nk + k;
            int s = nj * nk;
            b[(i * nj + j) * nk + k] = 0.2f * p[-s - nk - 1] + 0.5f * p[-s + nk - 1] - 0.8f * p[-s - nk + 1] - 0.3f * p[nk] +
                0.6f * p[0] - 0.9f * p[-nk] + 0.4f * p[s - nk] + 0.7f * p[s - nk + 1] + 0.1f * p[s + nk + 1];
        }
}

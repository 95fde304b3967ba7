extern "C" __global__ void dct(const float *a, float *b, const float *coef, int w) {
    __shared__ float t[8][8 * 4 + 1], u[8][8 * 4 + 1], c[64];
    int x = threadIdx.x, y = threadIdx.y, bx = x & 7, base = x & ~7;
    int at = (blockIdx.y * 8 + y) * w + blockIdx.x * 32 + x;
    t[y][x] = a[at];
    if (x < 8)
        c[y * 8 + x] = coef[y * 8 + x];
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        s += c[y * 8 + k] * t[k][x];
    u[y][x] = s;
    __syncthreads();
    s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        s += u[y][base + k] * c[bx * 8 + k];
    b[at] = s;
}

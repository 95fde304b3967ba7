// Rows of 32 numbers sorted by a warp each, by exchanges through shuffles.
extern "C" __global__ void warp_sort(const float *__restrict__ in, float *__restrict__ out, int rows) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float v = in[row * 32 + lane];
#pragma unroll
    for (int k = 2; k <= 32; k *= 2)
#pragma unroll
        for (int j = k / 2; j > 0; j /= 2) {
            float other = __shfl_xor_sync(0xffffffff, v, j);
            bool up = (lane & k) == 0, low = (lane & j) == 0;
            v = up == low ? fminf(v, other) : fmaxf(v, other);
        }
    out[row * 32 + lane] = v;
}

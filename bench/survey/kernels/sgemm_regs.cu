// C = A * B by tiles of 128 x 128, eight by eight numbers a thread, two buffers of shared memory.
#define TILE 128
#define DEPTH 8

extern "C" __global__ void __launch_bounds__(256) sgemm_regs(const float *__restrict__ A, const float *__restrict__ B,
                                                             float *__restrict__ C, int n) {
    __shared__ float as[2][DEPTH][TILE], bs[2][DEPTH][TILE];
    int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    const float *a = A + (size_t)(blockIdx.y * TILE + tid / 2) * n + tid % 2 * 4;
    const float *b = B + (size_t)(tid / 32) * n + blockIdx.x * TILE + tid % 32 * 4;
    float acc[8][8] = {}, x[8], y[8];
    float4 u = *(const float4 *)a, v = *(const float4 *)b;
    int now = 0;
    for (int k = 0; k < n; k += DEPTH) {
        int row = tid % 2 * 4;
        as[now][row][tid / 2] = u.x;
        as[now][row + 1][tid / 2] = u.y;
        as[now][row + 2][tid / 2] = u.z;
        as[now][row + 3][tid / 2] = u.w;
        *(float4 *)&bs[now][tid / 32][tid % 32 * 4] = v;
        __syncthreads();
        if (k + DEPTH < n) {
            a += DEPTH;
            b += (size_t)DEPTH * n;
            u = *(const float4 *)a;
            v = *(const float4 *)b;
        }
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            *(float4 *)x = *(float4 *)&as[now][d][ty * 4];
            *(float4 *)(x + 4) = *(float4 *)&as[now][d][64 + ty * 4];
            *(float4 *)y = *(float4 *)&bs[now][d][tx * 4];
            *(float4 *)(y + 4) = *(float4 *)&bs[now][d][64 + tx * 4];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    acc[i][j] += x[i] * y[j];
        }
        now ^= 1;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float *c = C + (size_t)(blockIdx.y * TILE + i / 4 * 64 + ty * 4 + i % 4) * n + blockIdx.x * TILE + tx * 4;
        *(float4 *)c = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        *(float4 *)(c + 64) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
    }
}

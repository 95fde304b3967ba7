extern "C" __global__ void gemm(const int *__restrict__ a, const int *__restrict__ b, int *c, int m, int n,
                                int k4) {
    __shared__ int as[16][16], bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16 + ty, q = blockIdx.x * 16 + tx;
    int s = 0;
    for (int t = 0; t < k4; t += 16) {
        as[ty][tx] = a[r * k4 + t + tx];
        bs[ty][tx] = b[(blockIdx.x * 16 + ty) * k4 + t + tx];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
            s = __dp4a(as[ty][i], bs[tx][i], s);
        __syncthreads();
    }
    c[r * n + q] = s;
}

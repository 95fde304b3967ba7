extern "C" __global__ void scan(const int *x, int *y) {
    __shared__ int s[2][512];
    int t = threadIdx.x, p = 0;
    s[0][t] = x[blockIdx.x * 512 + t];
    __syncthreads();
    for (int o = 1; o < 512; o *= 2) {
        s[1 - p][t] = t >= o ? s[p][t] + s[p][t - o] : s[p][t];
        p = 1 - p;
        __syncthreads();
    }
    y[blockIdx.x * 512 + t] = s[p][t];
}

extern "C" __global__ void lags(const float *x, float *r, int n, int most) {
    __shared__ float part[128];
    int lag = blockIdx.x;
    float s = 0;
    for (int i = threadIdx.x; i < n - lag; i += blockDim.x)
        s += x[i] * x[i + lag];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int k = 64; k; k >>= 1) {
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        r[lag] = part[0];
}

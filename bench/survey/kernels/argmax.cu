extern "C" __global__ void am(const float *x, int *o, int n) {
    __shared__ float sv[8];
    __shared__ int si[8];
    const float *p = x + (size_t)blockIdx.x * n;
    float b = -1e30f;
    int bi = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        float v = p[i];
        if (v > b) {
            b = v;
            bi = i;
        }
    }
    for (int k = 16; k; k >>= 1) {
        float v = __shfl_down_sync(~0u, b, k);
        int j = __shfl_down_sync(~0u, bi, k);
        if (v > b || (v == b && j < bi)) {
            b = v;
            bi = j;
        }
    }
    if ((threadIdx.x & 31) == 0) {
        sv[threadIdx.x >> 5] = b;
        si[threadIdx.x >> 5] = bi;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            if (sv[k] > b || (sv[k] == b && si[k] < bi)) {
                b = sv[k];
                bi = si[k];
            }
        o[blockIdx.x] = bi;
    }
}

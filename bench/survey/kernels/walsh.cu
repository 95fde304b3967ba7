extern "C" __global__ void walsh(float *d) {
    __shared__ float s[1024];
    float *p = d + blockIdx.x * 1024;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        s[i] = p[i];
    for (int h = 1; h < 1024; h *= 2) {
        __syncthreads();
        for (int t = threadIdx.x; t < 512; t += blockDim.x) {
            int lo = t & (h - 1), i = ((t - lo) << 1) + lo;
            float a = s[i], b = s[i + h];
            s[i] = a + b;
            s[i + h] = a - b;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        p[i] = s[i];
}

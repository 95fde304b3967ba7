extern "C" __global__ void fir(const float *__restrict__ x, const float *__restrict__ c, float *y, int n,
                               int taps) {
    __shared__ float s[32];
    for (int k = threadIdx.x; k < taps; k += blockDim.x)
        s[k] = c[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0;
    for (int k = 0; k < taps; k++)
        if (i - k >= 0)
            a += s[k] * x[i - k];
    if (i < n)
        y[i] = a;
}

#define N 512
extern "C" __global__ void price(const float *s, const float *x, float *o, float vdt, float pu, float pd) {
    __shared__ float v[N + 1];
    int t = threadIdx.x;
    float s0 = s[blockIdx.x], k = x[blockIdx.x];
    for (int i = t; i <= N; i += blockDim.x)
        v[i] = fmaxf(s0 * expf(vdt * (2 * i - N)) - k, 0.0f);
    __syncthreads();
    for (int i = N; i > 0; i--) {
        float a[2];
        for (int j = 0; j < 2; j++)
            a[j] = t + j * 256 < i ? pu * v[t + j * 256 + 1] + pd * v[t + j * 256] : 0;
        __syncthreads();
        for (int j = 0; j < 2; j++)
            if (t + j * 256 < i)
                v[t + j * 256] = a[j];
        __syncthreads();
    }
    if (t == 0)
        o[blockIdx.x] = v[0];
}

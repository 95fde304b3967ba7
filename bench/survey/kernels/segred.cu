extern "C" __global__ void seg(const float *v, const int *key, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x & 31;
    int k = key[i];
    float s = v[i];
#pragma unroll
    for (int o = 1; o < 32; o *= 2) {
        float t = __shfl_up_sync(~0u, s, o);
        int q = __shfl_up_sync(~0u, k, o);
        if (l >= o && q == k)
            s += t;
    }
    int nk = __shfl_down_sync(~0u, k, 1);
    if (l == 31 || nk != k)
        atomicAdd(out + k, s);
}

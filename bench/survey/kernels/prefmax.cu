extern "C" __global__ void pm(const int *x, int *y, int n) { // a block per row of n, block 256
    __shared__ int w[8];
    int l = threadIdx.x & 31, wi = threadIdx.x >> 5;
    const int *p = x + blockIdx.x * n;
    int *o = y + blockIdx.x * n;
    int carry = -2147483647;
    for (int b = 0; b < n; b += 256) {
        int v = p[b + threadIdx.x];
        for (int k = 1; k < 32; k *= 2) {
            int t = __shfl_up_sync(~0u, v, k);
            if (l >= k)
                v = max(v, t);
        }
        if (l == 31)
            w[wi] = v;
        __syncthreads();
        int m = carry;
        for (int k = 0; k < wi; k++)
            m = max(m, w[k]);
        o[b + threadIdx.x] = max(v, m);
        for (int k = 0; k < 8; k++)
            carry = max(carry, w[k]);
        __syncthreads();
    }
}

extern "C" __global__ void sort(int *a) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    int *p = a + blockIdx.x * 1024;
    s[t] = p[t];
    s[t + 512] = p[t + 512];
    for (int size = 2; size <= 1024; size *= 2) {
        int st = size / 2, off = t & (st - 1);
        __syncthreads();
        {
            int pos = 2 * t - (t & (st - 1));
            int x = s[pos], y = s[pos + st];
            s[pos] = min(x, y);
            s[pos + st] = max(x, y);
            st /= 2;
        }
        for (; st > 0; st /= 2) {
            __syncthreads();
            int pos = 2 * t - (t & (st - 1));
            if (off >= st) {
                int x = s[pos - st], y = s[pos];
                s[pos - st] = min(x, y);
                s[pos] = max(x, y);
            }
        }
    }
    __syncthreads();
    p[t] = s[t];
    p[t + 512] = s[t + 512];
}

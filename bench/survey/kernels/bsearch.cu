extern "C" __global__ void bs(const int *__restrict__ a, int n, const int *__restrict__ q, int *o, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    int v = q[i], lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    o[i] = lo;
}

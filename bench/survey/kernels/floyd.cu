extern "C" __global__ void fw(int *d, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n)
        return;
    int t = d[i * n + k] + d[k * n + j];
    if (t < d[i * n + j])
        d[i * n + j] = t;
}

extern "C" __global__ void match(const char *__restrict__ s, int n, const char *__restrict__ p, int m,
                                 int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - m)
        return;
    int j = 0;
    while (j < m && s[i + j] == p[j])
        j++;
    if (j == m)
        atomicAdd(count, 1);
}

// The longest common subsequence, one antidiagonal of the table a launch.
extern "C" __global__ void lcs(const char *a, const char *b, int *table, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = d - i;
    if (i > n || j < 1 || j > n)
        return;
    int w = n + 1;
    if (a[i - 1] == b[j - 1])
        table[i * w + j] = table[(i - 1) * w + j - 1] + 1;
    else
        table[i * w + j] = max(table[(i - 1) * w + j], table[i * w + j - 1]);
}

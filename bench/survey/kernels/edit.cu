extern "C" __global__ void edit(const unsigned char *__restrict__ a, const unsigned char *__restrict__ b,
                                int *__restrict__ out, int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row[65];
    for (int k = 0; k <= length; k++)
        row[k] = k;
    for (int y = 0; y < length; y++) {
        int before = y, left = y + 1, c = a[y * n + i];
        row[0] = left;
        for (int x = 0; x < length; x++) {
            int above = row[x + 1], best = before + (b[x * n + i] != c);
            best = min(best, min(above, left) + 1);
            before = above;
            row[x + 1] = left = best;
        }
    }
    out[i] = row[length];
}

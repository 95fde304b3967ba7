// Levenshtein's distances between one word and many, a row of the table in global memory for each thread.
extern "C" __global__ void edit_rows(const char *word, int m, const char *others, int n, int *rows, int *out, int count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    const char *other = others + t * n;
    int *row = rows + t * (n + 1);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; i <= m; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int above = row[j];
            row[j] = min(min(above, row[j - 1]) + 1, corner + (word[i - 1] != other[j - 1]));
            corner = above;
        }
    }
    out[t] = row[n];
}

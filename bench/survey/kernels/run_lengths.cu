// Run lengths of rows of bytes, a thread a row: (byte, length), a row of twice the bytes.
extern "C" __global__ void run_lengths(const unsigned char *in, unsigned char *out, int *lengths, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    const unsigned char *p = in + i * n;
    unsigned char *q = out + i * 2 * n;
    int at = 0;
    for (int j = 0; j < n;) {
        int run = 1;
        while (j + run < n && run < 255 && p[j + run] == p[j])
            run++;
        q[at++] = p[j];
        q[at++] = run;
        j += run;
    }
    lengths[i] = at;
}

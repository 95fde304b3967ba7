// Letters made capitals, consecutive bytes for each thread.
extern "C" __global__ void upper(const char *in, char *out, int n, int length) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * length;
    for (int i = first; i < first + length && i < n; i++) {
        char c = in[i];
        if (c >= 'a' && c <= 'z')
            c -= 32;
        out[i] = c;
    }
}

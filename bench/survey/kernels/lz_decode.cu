// Blocks of a simple Lempel-Ziv code (a literal: length - 1, bytes; a copy: 128 + length - 3, distance), a thread each.
extern "C" __global__ void decode(const unsigned char *in, const int *starts, unsigned char *out, int size, int blocks) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks)
        return;
    const unsigned char *p = in + starts[b], *end = in + starts[b + 1];
    unsigned char *o = out + b * size;
    while (p < end) {
        int token = *p++;
        if (token < 128) {
            for (int k = 0; k <= token; k++)
                *o++ = *p++;
        } else {
            int distance = *p++, length = token - 128 + 3;
            for (int k = 0; k < length; k++, o++)
                *o = o[-distance];
        }
    }
}

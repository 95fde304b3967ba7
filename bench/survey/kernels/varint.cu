// Numbers of 7 bits a byte, in blocks of 32 differences: a thread a block.
extern "C" __global__ void varint(const unsigned char *__restrict__ bytes, const int *__restrict__ starts,
                                  unsigned *__restrict__ out, int blocks) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks)
        return;
    const unsigned char *p = bytes + starts[b];
    unsigned value = 0;
    for (int k = 0; k < 32; k++) {
        unsigned delta = 0, shift = 0, c;
        do {
            c = *p++;
            delta |= (c & 127) << shift;
            shift += 7;
        } while (c & 128);
        value += delta;
        out[b * 32 + k] = value;
    }
}

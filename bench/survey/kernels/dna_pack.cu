// Letters of DNA packed, 16 to a word, a thread a word.
extern "C" __global__ void dna_pack(const char *bases, unsigned *packed, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned word = 0;
    for (int k = 0; k < 16; k++)
        word |= (unsigned)(bases[i * 16 + k] >> 1 & 3) << (2 * k);
    packed[i] = word;
}

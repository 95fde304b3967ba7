// Streams of prefix codes of up to 8 bits: a table in shared memory, a thread a stream.
extern "C" __global__ void huffman(const unsigned *__restrict__ words, const int *__restrict__ starts,
                                   const unsigned short *__restrict__ table, unsigned char *__restrict__ out,
                                   int streams, int letters) {
    __shared__ unsigned short look[256];
    look[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= streams)
        return;
    const unsigned *p = words + starts[s];
    unsigned long long bits = 0;
    int have = 0;
    for (int k = 0; k < letters; k++) {
        if (have < 8) {
            bits |= (unsigned long long)*p++ << have;
            have += 32;
        }
        unsigned short e = look[bits & 255];
        out[s * letters + k] = e & 255;
        bits >>= e >> 8;
        have -= e >> 8;
    }
}

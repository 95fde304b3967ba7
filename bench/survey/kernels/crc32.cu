extern "C" __global__ void crc(const unsigned *table, const unsigned *data, unsigned *out, int n, int words) {
    __shared__ unsigned t[256];
    t[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned c = ~0u;
    const unsigned *p = data + (size_t)i * words;
    for (int k = 0; k < words; k++) {
        unsigned w = p[k];
        for (int b = 0; b < 4; b++) {
            c = t[(c ^ w) & 255] ^ (c >> 8);
            w >>= 8;
        }
    }
    out[i] = ~c;
}

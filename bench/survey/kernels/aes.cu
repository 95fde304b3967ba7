// Rounds of AES by four tables in shared memory, a block of 16 bytes a thread.
extern "C" __global__ void aes(const uint4 *in, uint4 *out, const unsigned *tables, const unsigned *keys, int rounds, int n) {
    __shared__ unsigned t[4][256];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        t[i >> 8][i & 255] = tables[i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 s = in[i];
    for (int r = 0; r < rounds; r++) {
        uint4 v;
        v.x = t[0][s.x >> 24] ^ t[1][s.y >> 16 & 255] ^ t[2][s.z >> 8 & 255] ^ t[3][s.w & 255] ^ keys[4 * r];
        v.y = t[0][s.y >> 24] ^ t[1][s.z >> 16 & 255] ^ t[2][s.w >> 8 & 255] ^ t[3][s.x & 255] ^ keys[4 * r + 1];
        v.z = t[0][s.z >> 24] ^ t[1][s.w >> 16 & 255] ^ t[2][s.x >> 8 & 255] ^ t[3][s.y & 255] ^ keys[4 * r + 2];
        v.w = t[0][s.w >> 24] ^ t[1][s.x >> 16 & 255] ^ t[2][s.y >> 8 & 255] ^ t[3][s.z & 255] ^ keys[4 * r + 3];
        s = v;
    }
    out[i] = s;
}

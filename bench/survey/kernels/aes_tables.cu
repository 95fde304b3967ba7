// AES-128 of counters, by four tables of 256 words in shared memory. The key's schedule is given.
extern "C" __global__ void aes(const unsigned *tables, const unsigned char *sbox, const unsigned *keys,
                               uint4 *out, int n) {
    __shared__ unsigned t0[256], t1[256], t2[256], t3[256], k[44];
    __shared__ unsigned char s[256];
    int tid = threadIdx.x;
    t0[tid] = tables[tid];
    t1[tid] = tables[256 + tid];
    t2[tid] = tables[512 + tid];
    t3[tid] = tables[768 + tid];
    s[tid] = sbox[tid];
    if (tid < 44)
        k[tid] = keys[tid];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + tid;
    if (i >= n)
        return;
    unsigned a = k[0], b = k[1], c = k[2], d = k[3] ^ (unsigned)i;
    for (int r = 1; r < 10; r++) {
        unsigned e = t0[a >> 24] ^ t1[(b >> 16) & 255] ^ t2[(c >> 8) & 255] ^ t3[d & 255] ^ k[4 * r];
        unsigned f = t0[b >> 24] ^ t1[(c >> 16) & 255] ^ t2[(d >> 8) & 255] ^ t3[a & 255] ^ k[4 * r + 1];
        unsigned g = t0[c >> 24] ^ t1[(d >> 16) & 255] ^ t2[(a >> 8) & 255] ^ t3[b & 255] ^ k[4 * r + 2];
        unsigned h = t0[d >> 24] ^ t1[(a >> 16) & 255] ^ t2[(b >> 8) & 255] ^ t3[c & 255] ^ k[4 * r + 3];
        a = e;
        b = f;
        c = g;
        d = h;
    }
#define LAST(a, b, c, d, key)                                                                                 \
    ((((unsigned)s[a >> 24] << 24) | ((unsigned)s[(b >> 16) & 255] << 16) |                                  \
      ((unsigned)s[(c >> 8) & 255] << 8) | s[d & 255]) ^ key)
    out[i] = make_uint4(LAST(a, b, c, d, k[40]), LAST(b, c, d, a, k[41]), LAST(c, d, a, b, k[42]),
                        LAST(d, a, b, c, k[43]));
}

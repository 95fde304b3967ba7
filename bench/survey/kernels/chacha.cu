#define ROT(x, n) (((x) << n) | ((x) >> (32 - n)))
#define QR(a, b, c, d)                                                                                       \
    a += b;                                                                                                  \
    d ^= a;                                                                                                  \
    d = ROT(d, 16);                                                                                          \
    c += d;                                                                                                  \
    b ^= c;                                                                                                  \
    b = ROT(b, 12);                                                                                          \
    a += b;                                                                                                  \
    d ^= a;                                                                                                  \
    d = ROT(d, 8);                                                                                           \
    c += d;                                                                                                  \
    b ^= c;                                                                                                  \
    b = ROT(b, 7);

extern "C" __global__ void chacha(const unsigned *key, const uint4 *in, uint4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0],      key[1], key[2], key[3],
                      key[4],     key[5],     key[6],     key[7],     (unsigned)i, key[8], key[9], key[10]},
             x[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        x[k] = s[k];
#pragma unroll 1
    for (int r = 0; r < 10; r++) {
        QR(x[0], x[4], x[8], x[12]);
        QR(x[1], x[5], x[9], x[13]);
        QR(x[2], x[6], x[10], x[14]);
        QR(x[3], x[7], x[11], x[15]);
        QR(x[0], x[5], x[10], x[15]);
        QR(x[1], x[6], x[11], x[12]);
        QR(x[2], x[7], x[8], x[13]);
        QR(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 v = in[4 * i + k];
        v.x ^= x[4 * k] + s[4 * k];
        v.y ^= x[4 * k + 1] + s[4 * k + 1];
        v.z ^= x[4 * k + 2] + s[4 * k + 2];
        v.w ^= x[4 * k + 3] + s[4 * k + 3];
        out[4 * i + k] = v;
    }
}

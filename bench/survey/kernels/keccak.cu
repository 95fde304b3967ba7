typedef unsigned long long u64;
__device__ u64 rol(u64 x, int n) { return x << n | x >> (64 - n); }
extern "C" __global__ void keccak(const u64 *in, const u64 *rc, u64 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 s[25];
#pragma unroll
    for (int k = 0; k < 25; k++)
        s[k] = k < 4 ? in[k * n + i] : k;
    const int rot[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
    const int at[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
    for (int r = 0; r < 24; r++) {
        u64 c[5];
#pragma unroll
        for (int x = 0; x < 5; x++)
            c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
#pragma unroll
        for (int x = 0; x < 5; x++) {
            u64 d = c[(x + 4) % 5] ^ rol(c[(x + 1) % 5], 1);
#pragma unroll
            for (int y = 0; y < 25; y += 5)
                s[y + x] ^= d;
        }
        u64 t = s[1];
#pragma unroll
        for (int k = 0; k < 24; k++) {
            u64 v = s[at[k]];
            s[at[k]] = rol(t, rot[k]);
            t = v;
        }
#pragma unroll
        for (int y = 0; y < 25; y += 5) {
            u64 a = s[y], b = s[y + 1];
            s[y] ^= ~b & s[y + 2];
            s[y + 1] ^= ~s[y + 2] & s[y + 3];
            s[y + 2] ^= ~s[y + 3] & s[y + 4];
            s[y + 3] ^= ~s[y + 4] & a;
            s[y + 4] ^= ~a & b;
        }
        s[0] ^= rc[r];
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        out[k * n + i] = s[k];
}

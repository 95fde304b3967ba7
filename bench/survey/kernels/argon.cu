// Blocks of 1 KB, each made of the one before and another one (as Argon2 does it): a warp a chain of blocks,
// four words a thread, mixed in shared memory by rows and by columns.
typedef unsigned long long word;
#define ROTATED(x, n) (((x) >> (n)) | ((x) << (64 - (n))))
#define SUM(x, y) ((x) + (y) + 2 * (word)(unsigned)(x) * (unsigned)(y))
#define MIX(a, b, c, d)      \
    a = SUM(a, b);           \
    d = ROTATED(d ^ a, 32);  \
    c = SUM(c, d);           \
    b = ROTATED(b ^ c, 24);  \
    a = SUM(a, b);           \
    d = ROTATED(d ^ a, 16);  \
    c = SUM(c, d);           \
    b = ROTATED(b ^ c, 63);
#define AT(k) columns[(k) / 2 * 16 + (k) % 2]

extern "C" __global__ void fill(word *memory, int blocks) {
    __shared__ word z[128];
    int t = threadIdx.x, c = t % 4;
    word *chain = memory + (size_t)blockIdx.x * blocks * 128, *row = z + t / 4 * 16, *columns = z + t / 4 * 2;
    for (int b = 2; b < blocks; b++) {
        word other = chain[(b - 1) * 128] % (b - 1), kept[4];
        for (int i = 0; i < 4; i++)
            z[i * 32 + t] = kept[i] = chain[(b - 1) * 128 + i * 32 + t] ^ chain[other * 128 + i * 32 + t];
        __syncwarp();
        MIX(row[c], row[4 + c], row[8 + c], row[12 + c])
        __syncwarp();
        MIX(row[c], row[4 + (c + 1) % 4], row[8 + (c + 2) % 4], row[12 + (c + 3) % 4])
        __syncwarp();
        MIX(AT(c), AT(4 + c), AT(8 + c), AT(12 + c))
        __syncwarp();
        MIX(AT(c), AT(4 + (c + 1) % 4), AT(8 + (c + 2) % 4), AT(12 + (c + 3) % 4))
        __syncwarp();
        for (int i = 0; i < 4; i++)
            chain[b * 128 + i * 32 + t] = kept[i] ^ z[i * 32 + t];
        __syncwarp();
    }
}

#include "native.h"
#define ROTATED(x, n) (((x) >> (n)) | ((x) << (64 - (n))))
#define SUM(x, y) ((x) + (y) + 2 * (ull)(uint)(x) * (uint)(y))
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

void run(ull *restrict memory, int n, int blocks) {
    for (int k = 0; k < n; k++)
        for (int b = 2; b < blocks; b++) {
            ull *chain = memory + (size_t)k * blocks * 128, other = chain[(b - 1) * 128] % (b - 1), kept[128], z[128];
            for (int i = 0; i < 128; i++)
                z[i] = kept[i] = chain[(b - 1) * 128 + i] ^ chain[other * 128 + i];
            for (ull *row = z; row < z + 128; row += 16) {
                for (int c = 0; c < 4; c++) {
                    MIX(row[c], row[4 + c], row[8 + c], row[12 + c])
                }
                for (int c = 0; c < 4; c++) {
                    MIX(row[c], row[4 + (c + 1) % 4], row[8 + (c + 2) % 4], row[12 + (c + 3) % 4])
                }
            }
            for (ull *columns = z; columns < z + 16; columns += 2) {
                for (int c = 0; c < 4; c++) {
                    MIX(AT(c), AT(4 + c), AT(8 + c), AT(12 + c))
                }
                for (int c = 0; c < 4; c++) {
                    MIX(AT(c), AT(4 + (c + 1) % 4), AT(8 + (c + 2) % 4), AT(12 + (c + 3) % 4))
                }
            }
            for (int i = 0; i < 128; i++)
                chain[b * 128 + i] = kept[i] ^ z[i];
        }
}

#include "native.h"

void run(const uchar *restrict a, const uchar *restrict b, float *restrict out, int w, int h) {
    for (int y = 0; y < h / 8; y++)
        for (int x = 0; x < w / 8; x++) {
            int sp = 0, sq = 0, spp = 0, sqq = 0, spq = 0;
            for (int j = 0; j < 8; j++)
                for (int i = 0; i < 8; i++) {
                    int p = a[(y * 8 + j) * w + x * 8 + i], q = b[(y * 8 + j) * w + x * 8 + i];
                    sp += p, sq += q, spp += p * p, sqq += q * q, spq += p * q;
                }
            float ma = sp / 64.0f, mb = sq / 64.0f, va = spp / 64.0f - ma * ma, vb = sqq / 64.0f - mb * mb,
                  c = spq / 64.0f - ma * mb;
            out[y * (w / 8) + x] = (2 * ma * mb + 6.5025f) * (2 * c + 58.5225f) /
                                   ((ma * ma + mb * mb + 6.5025f) * (va + vb + 58.5225f));
        }
}

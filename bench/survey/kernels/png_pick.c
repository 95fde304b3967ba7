#include "native.h"

static inline int paeth(int a, int b, int c) {
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    int bc = pb <= pc ? b : c;
    return (pa <= pb) & (pa <= pc) ? a : bc;
}

static inline int size(int v) {
    return abs((signed char)v);
}

// Rows after four zero bytes, so that no byte is special; all sums in one pass of vectors.
void run(const uchar *restrict image, uchar *restrict out, int w, int h) {
    int bytes = 4 * w;
    uchar *own = calloc(2, bytes + 4);
    for (int y = 0; y < h; y++) {
        uchar *restrict row = own + (y & 1) * (bytes + 4) + 4;
        const uchar *restrict above = own + (~y & 1) * (bytes + 4) + 4;
        memcpy(row, image + (size_t)y * bytes, bytes);
        int s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4)
        for (int i = 0; i < bytes; i++) {
            int x = row[i], a = row[i - 4], b = above[i], c = above[i - 4];
            s0 += size(x), s1 += size(x - a), s2 += size(x - b), s3 += size(x - ((a + b) >> 1));
            s4 += size(x - paeth(a, b, c));
        }
        int sums[5] = {s0, s1, s2, s3, s4}, best = 0;
        for (int k = 1; k < 5; k++)
            best = sums[k] < sums[best] ? k : best;
        uchar *restrict to = out + (size_t)y * (bytes + 1);
        *to++ = best;
        switch (best) {
        case 0:
            memcpy(to, row, bytes);
            break;
        case 1:
            for (int i = 0; i < bytes; i++)
                to[i] = row[i] - row[i - 4];
            break;
        case 2:
            for (int i = 0; i < bytes; i++)
                to[i] = row[i] - above[i];
            break;
        case 3:
            for (int i = 0; i < bytes; i++)
                to[i] = row[i] - ((row[i - 4] + above[i]) >> 1);
            break;
        default:
            for (int i = 0; i < bytes; i++)
                to[i] = row[i] - paeth(row[i - 4], above[i], above[i - 4]);
        }
    }
    free(own);
}

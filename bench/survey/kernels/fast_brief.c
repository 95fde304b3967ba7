#include "native.h"

static const signed char ring[16][2] = {{0, -3}, {1, -3}, {2, -2}, {3, -1}, {3, 0},  {3, 1},   {2, 2},   {1, 3},
                                        {0, 3},  {-1, 3}, {-2, 2}, {-3, 1}, {-3, 0}, {-3, -1}, {-2, -2}, {-1, -3}};

static inline uint nine(uint m) {
    m |= m << 16;
    uint last = m >> 8;
    m &= m >> 1;
    m &= m >> 2;
    m &= m >> 4;
    return m & last;
}

void run(const uchar *restrict image, ushort *restrict score, uint *restrict corners, uint *restrict count,
         const signed char *restrict pairs, uint *restrict descriptor, int w, int h, int threshold, int border) {
    int offset[16], first[256], second[256];
    for (int k = 0; k < 16; k++)
        offset[k] = ring[k][1] * w + ring[k][0];
    for (int k = 0; k < 256; k++)
        first[k] = pairs[4 * k + 1] * w + pairs[4 * k], second[k] = pairs[4 * k + 3] * w + pairs[4 * k + 2];
    memset(score, 0, sizeof(ushort) * w * h);
    for (int y = 3; y < h - 3; y++)
#pragma omp simd
        for (int x = 3; x < w - 3; x++) {
            const uchar *at = image + y * w + x;
            int c = *at, up = 0, down = 0;
            uint brighter = 0, darker = 0;
#pragma GCC unroll 16
            for (int k = 0; k < 16; k++) {
                int d = at[offset[k]] - c, u = MAX(d - threshold, 0), v = MAX(-d - threshold, 0);
                brighter |= (uint)(u > 0) << k, darker |= (uint)(v > 0) << k;
                up += u, down += v;
            }
            score[y * w + x] = (nine(brighter) | nine(darker)) ? MAX(up, down) : 0;
        }
    uint n = 0;
    for (int y = border; y < h - border; y++)
        for (int x = border; x < w - border; x++) {
            const ushort *s = score + y * w + x;
            if (*s && *s > s[-w - 1] && *s > s[-w] && *s > s[-w + 1] && *s > s[-1] && *s >= s[1] && *s >= s[w - 1] &&
                *s >= s[w] && *s >= s[w + 1])
                corners[n++] = y << 16 | x;
        }
    *count = n;
    for (uint i = 0; i < n; i++) {
        const uchar *at = image + (corners[i] >> 16) * w + (corners[i] & 0xffff);
        for (int word = 0; word < 8; word++) {
            uint bits = 0;
            for (int b = 0; b < 32; b++)
                bits |= (uint)(at[first[32 * word + b]] < at[second[32 * word + b]]) << b;
            descriptor[8 * i + word] = bits;
        }
    }
}

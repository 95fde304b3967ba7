// PatchMatch with pixels of two colours by turns; both pictures have a border of three pixels, so rows are read at once.
#include "native.h"

enum { R = 3 };

typedef struct {
    int x, y;
} int2;

static inline uint wang(uint s) {
    s = (s ^ 61u) ^ (s >> 16);
    s *= 9u;
    s = s ^ (s >> 4);
    s *= 0x27d4eb2du;
    return s ^ (s >> 15);
}

static uchar *padded(const uchar *image, int w, int h) {
    uint *out = malloc((size_t)(w + 2 * R + 1) * (h + 2 * R) * 4);
    const uint *in = (const uint *)image;
    for (int y = 0; y < h + 2 * R; y++)
        for (int x = 0; x < w + 2 * R + 1; x++) {
            int sy = MIN(MAX(y - R, 0), h - 1), sx = MIN(MAX(x - R, 0), w - 1);
            out[y * (w + 2 * R + 1) + x] = in[sy * w + sx] & 0xffffff;
        }
    return (uchar *)out;
}

static inline uint distance_of(const uchar *restrict a, const uchar *restrict b, long sa, long sb, uint limit) {
    uint sum = 0;
    for (int dy = 0; dy < 2 * R + 1; dy++, a += sa, b += sb) {
        int row = 0;
#pragma omp simd reduction(+ : row)
        for (int i = 0; i < 4 * (2 * R + 1); i++) {
            short d = a[i] - b[i];
            row += d * d;
        }
        sum += row;
        if (sum >= limit)
            return limit;
    }
    return sum;
}

void run(const uchar *restrict a, const uchar *restrict b, int2 *restrict field, uint *restrict distance, int aw,
         int ah, int bw, int bh, uint seed, int rounds) {
    uchar *pa = padded(a, aw, ah), *pb = padded(b, bw, bh);
    long sa = 4 * (aw + 2 * R + 1), sb = 4 * (bw + 2 * R + 1);
    for (int y = 0; y < ah; y++)
        for (int x = 0; x < aw; x++) {
            uint r = wang(seed + y * aw + x);
            int2 at = {r % bw, wang(r) % bh};
            field[y * aw + x] = at;
            distance[y * aw + x] = distance_of(pa + y * sa + 4 * x, pb + at.y * sb + 4 * at.x, sa, sb, ~0u);
        }
    for (int k = 0; k < 2 * rounds; k++)
        for (int y = 0; y < ah; y++)
            for (int x = (y + k) & 1; x < aw; x += 2) {
                int2 best = field[y * aw + x];
                uint least = distance[y * aw + x];
                const uchar *own = pa + y * sa + 4 * x;
                for (int n = 0; n < 4; n++) {
                    int dx = n < 2 ? 2 * n - 1 : 0, dy = n < 2 ? 0 : 2 * n - 5;
                    if (x + dx < 0 || y + dy < 0 || x + dx >= aw || y + dy >= ah)
                        continue;
                    int2 at = field[(y + dy) * aw + x + dx];
                    at.x = MIN(MAX(at.x - dx, 0), bw - 1);
                    at.y = MIN(MAX(at.y - dy, 0), bh - 1);
                    uint d = distance_of(own, pb + at.y * sb + 4 * at.x, sa, sb, least);
                    if (d < least)
                        least = d, best = at;
                }
                uint r = wang((seed + k + 1) ^ (uint)(y * aw + x));
                for (int mag = MAX(bw, bh) / 2; mag >= 1; mag /= 2) {
                    int x0 = MAX(best.x - mag, 0), x1 = MIN(best.x + mag, bw - 1);
                    int y0 = MAX(best.y - mag, 0), y1 = MIN(best.y + mag, bh - 1);
                    r = wang(r);
                    int tx = x0 + r % (x1 - x0 + 1);
                    r = wang(r);
                    int ty = y0 + r % (y1 - y0 + 1);
                    uint d = distance_of(own, pb + ty * sb + 4 * tx, sa, sb, least);
                    if (d < least)
                        least = d, best = (int2){tx, ty};
                }
                field[y * aw + x] = best;
                distance[y * aw + x] = least;
            }
    free(pa);
    free(pb);
}

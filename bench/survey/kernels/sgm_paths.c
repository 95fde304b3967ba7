// Semi-global matching: 64 disparities are side by side in vectors of bytes and of 16 bits.
#include "native.h"

enum { D = 64 };

static void census(const uchar *restrict image, ull *restrict out, int w, int h) {
    int pw = w + 8;
    uchar *restrict padded = calloc((size_t)pw * (h + 6), 1);
    for (int y = 0; y < h; y++)
        memcpy(padded + (y + 3) * pw + 4, image + y * w, w);
    for (int y = 0; y < h; y++) {
        ull *restrict row = out + y * w;
        memset(row, 0, w * sizeof(ull));
        for (int dy = 0; dy < 7; dy++)
            for (int dx = 0; dx < 9; dx++) {
                if (dx == 4 && dy == 3)
                    continue;
                const uchar *restrict other = padded + (y + dy) * pw + dx, *restrict own = padded + (y + 3) * pw + 4;
#pragma omp simd
                for (int x = 0; x < w; x++)
                    row[x] = row[x] << 1 | (other[x] > own[x]);
            }
    }
    free(padded);
}

static inline int step(const uchar *restrict cost, const short *restrict before, short *restrict now, short least,
                       uchar *restrict out, short p1, short p2) {
    short next = 10000;
#pragma omp simd reduction(min : next)
    for (int d = 0; d < D; d++) {
        short side = MIN(before[d], before[d + 2]) + p1, own = before[d + 1], jump = least + p2;
        short v = MIN(own, jump);
        v = cost[d] + MIN(v, side) - least;
        now[d + 1] = v;
        out[d] = v;
        next = MIN(next, v);
    }
    return next;
}

void run(const uchar *restrict left, const uchar *restrict right, ull *restrict left_census,
         ull *restrict right_census, uchar *restrict cost, uchar *restrict to_right, uchar *restrict to_left,
         uchar *restrict down, uchar *restrict up, unsigned short *restrict disparity, int w, int h, int p1, int p2,
         int uniqueness) {
    uchar *paths[4] = {to_right, to_left, down, up};
    census(left, left_census, w, h);
    census(right, right_census, w, h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uchar *c = cost + ((long)y * w + x) * D;
            ull own = left_census[y * w + x];
            const ull *other = right_census + y * w + x;
            int known = MIN(x + 1, D);
            for (int d = 0; d < known; d++)
                c[d] = __builtin_popcountll(own ^ other[-d]);
            for (int d = known; d < D; d++)
                c[d] = 64;
        }
    for (int k = 0; k < 2; k++)
        for (int y = 0; y < h; y++) {
            short rows[2][D + 2] = {{0}}, least = 0;
            rows[0][0] = rows[0][D + 1] = rows[1][0] = rows[1][D + 1] = 10000;
            for (int i = 0; i < w; i++) {
                long at = ((long)y * w + (k ? w - 1 - i : i)) * D;
                least = step(cost + at, rows[i & 1], rows[~i & 1], least, paths[k] + at, p1, p2);
            }
        }
    short(*rows)[2][D + 2] = malloc(w * sizeof *rows), *least = malloc(w * sizeof(short));
    for (int k = 2; k < 4; k++) {
        memset(rows, 0, w * sizeof *rows);
        memset(least, 0, w * sizeof *least);
        for (int x = 0; x < w; x++)
            rows[x][0][0] = rows[x][0][D + 1] = rows[x][1][0] = rows[x][1][D + 1] = 10000;
        for (int i = 0; i < h; i++)
            for (int x = 0; x < w; x++) {
                long at = ((long)(k == 3 ? h - 1 - i : i) * w + x) * D;
                least[x] = step(cost + at, rows[x][i & 1], rows[x][~i & 1], least[x], paths[k] + at, p1, p2);
            }
    }
    free(rows);
    free(least);
    for (long p = 0; p < (long)w * h; p++) {
        const uchar *a = to_right + p * D, *b = to_left + p * D, *v = down + p * D, *e = up + p * D;
        int sums[D], best = 1 << 30;
#pragma omp simd reduction(min : best)
        for (int d = 0; d < D; d++) {
            sums[d] = a[d] + b[d] + v[d] + e[d];
            best = MIN(best, sums[d] << 16 | d);
        }
        int d0 = best & 0xffff, c = best >> 16, rivals = 0;
#pragma omp simd reduction(| : rivals)
        for (int d = 0; d < D; d++)
            rivals |= (abs(d - d0) > 1) & (sums[d] * (100 - uniqueness) < c * 100);
        int result = rivals ? 0xffff : d0 * 16;
        if (!rivals && d0 > 0 && d0 < D - 1) {
            int denominator = sums[d0 - 1] - 2 * c + sums[d0 + 1];
            if (denominator > 0)
                result += ((sums[d0 - 1] - sums[d0 + 1]) * 16 + denominator) / (2 * denominator);
        }
        disparity[p] = result;
    }
}

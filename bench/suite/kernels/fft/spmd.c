// Stockham's order, as the GPU's kernel: a lane is a pair of values. Steps shorter than a register permute lanes.
#include "native.h"

enum { N = 1024, HALF = N / 2 };

// Sums and turned differences of the pairs from `t` on; `c` and `s` are their angles.
#define PAIRS(t, c, s) \
    vec ax = LOAD(fx + (t)), bx = LOAD(fx + (t) + HALF), ay = LOAD(fy + (t)), by = LOAD(fy + (t) + HALF); \
    vec dx = ax - bx, dy = ay - by, sx = ax + bx, sy = ay + by, tx = dx * (c) + dy * (s), ty = dy * (c) - dx * (s)

static void narrow(
    int span, const REAL *restrict fx, const REAL *restrict fy, REAL *restrict ox, REAL *restrict oy,
    const REAL *restrict cosines, const REAL *restrict sines)
{
    ivec low, high, first;
    for (int l = 0; l < LANES; l++) {
        int own = l / (2 * span) * span + l % span, turned = l % (2 * span) / span;
        low[l] = own + turned * LANES;
        high[l] = own + turned * LANES + LANES / 2;
        first[l] = l - l % span;
    }
    for (int t = 0; t < HALF; t += LANES) {
        vec c = __builtin_shuffle(LOAD(cosines + t), first), s = __builtin_shuffle(LOAD(sines + t), first);
        PAIRS(t, c, s);
        STORE(ox + 2 * t, __builtin_shuffle(sx, tx, low));
        STORE(ox + 2 * t + LANES, __builtin_shuffle(sx, tx, high));
        STORE(oy + 2 * t, __builtin_shuffle(sy, ty, low));
        STORE(oy + 2 * t + LANES, __builtin_shuffle(sy, ty, high));
    }
}

static void wide(
    int span, const REAL *restrict fx, const REAL *restrict fy, REAL *restrict ox, REAL *restrict oy,
    const REAL *restrict cosines, const REAL *restrict sines)
{
    for (int p = 0; p < HALF; p += span)
        for (int t = p; t < p + span; t += LANES) {
            PAIRS(t, cosines[p], sines[p]);
            STORE(ox + p + t, sx);
            STORE(oy + p + t, sy);
            STORE(ox + p + t + span, tx);
            STORE(oy + p + t + span, ty);
        }
}

void run(REAL *restrict re, REAL *restrict im, const REAL *restrict cosines, const REAL *restrict sines, int batch)
{
    REAL x[2][N] __attribute__((aligned(64))), y[2][N] __attribute__((aligned(64)));
    for (int i = 0; i < batch; i++) {
        REAL *xs = re + i * N, *ys = im + i * N;
        int from = 1;
        narrow(1, xs, ys, x[from], y[from], cosines, sines);
        for (int span = 2; span < HALF; span *= 2, from = !from)
            (span < LANES ? narrow : wide)(span, x[from], y[from], x[!from], y[!from], cosines, sines);
        wide(HALF, x[from], y[from], xs, ys, cosines, sines);
    }
}

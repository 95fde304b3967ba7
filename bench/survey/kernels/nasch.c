// Nagel and Schreckenberg's traffic on ring roads of two lanes: the gaps from the front to the back, as they go.
#include "native.h"
enum { EMPTY = -1, VMAX = 5 };

static uint hash(uint x) {
    x = (x ^ 61u) ^ (x >> 16);
    x *= 9u;
    x ^= x >> 4;
    x *= 0x27d4eb2du;
    return x ^ (x >> 15);
}

// How many cells before each are empty, VMAX at most: behind it if `by` is -1.
static void gaps(const signed char *restrict lane, uchar *restrict gap, int length, int by) {
    int x = by > 0 ? length - 1 : 0, run = 0;
    for (int d = VMAX; d >= 1; d--)
        run = lane[(x + by * d + length) % length] == EMPTY ? run + 1 : 0;
    for (int k = 0; k < length; k++, x -= by) {
        gap[x] = run;
        run = lane[x] == EMPTY ? MIN(run + 1, VMAX) : 0;
    }
}

void run(signed char *restrict road, int *restrict flow, int length, uint dawdle, int steps) {
    signed char *other_road = malloc(2L * length);
    uchar *own = malloc(3L * length), *ahead = own, *there = own + length, *behind = own + 2 * length;
    for (int step = 0; step < steps; step++) {
        signed char *from = road + step % 2 * length, *to = road + (1 - step % 2) * length;
        gaps(from, ahead, length, 1);
        gaps(to, there, length, 1);
        gaps(to, behind, length, -1);
#pragma omp simd
        for (int x = 0; x < length; x++) {
            signed char v = from[x], o = to[x];
            signed char wanted = v + 1 < VMAX ? v + 1 : VMAX;
            int go = (v != EMPTY) & (o == EMPTY) & (ahead[x] < wanted) & (there[x] >= wanted) & (behind[x] >= VMAX);
            from[x] = go ? EMPTY : v;
            to[x] = go ? v : o;
        }
        memset(other_road, EMPTY, 2L * length);
        for (int lane = 0; lane < 2; lane++) {
            signed char *now = road + lane * length, *next = other_road + lane * length;
            gaps(now, ahead, length, 1);
            for (int x = 0; x < length; x++) {
                int v = now[x];
                if (v == EMPTY)
                    continue;
                v = MIN(MIN(v + 1, VMAX), ahead[x]);
                v -= v > 0 && hash((step * 2 + lane) * 1000003u + x) < dawdle;
                int at = x + v;
                if (at >= length)
                    flow[lane]++, at -= length;
                next[at] = v;
            }
        }
        memcpy(road, other_road, 2L * length);
    }
    free(other_road);
    free(own);
}

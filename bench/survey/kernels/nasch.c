// Nagel and Schreckenberg's traffic on ring roads of two lanes: cells in vectors.
#include "native.h"
enum { EMPTY = -1, VMAX = 5 };

static uint hash(uint x) {
    x = (x ^ 61u) ^ (x >> 16);
    x *= 9u;
    x ^= x >> 4;
    x *= 0x27d4eb2du;
    return x ^ (x >> 15);
}

// How many cells before (behind, if `by` is -1) each are empty, VMAX at most; of a lane with VMAX more at its ends.
static inline void gaps(const signed char *restrict lane, uchar *restrict gap, int length, int by) {
#pragma omp simd
    for (int x = 0; x < length; x++) {
        uchar run = 0;
#pragma GCC unroll 5
        for (int d = VMAX; d >= 1; d--)
            run = lane[x + by * d] == EMPTY ? (uchar)(run + 1) : (uchar)0;
        gap[x] = run;
    }
}

static void close_ring(signed char *lane, int length) {
    memcpy(lane - VMAX, lane + length - VMAX, VMAX);
    memcpy(lane + length, lane, VMAX);
}

void run(signed char *restrict road, int *restrict flow, int length, uint dawdle, int steps) {
    long pitch = length + 2 * VMAX;
    signed char *lanes = malloc(3 * pitch), *lane[3];
    uchar *own = malloc(3L * length), *ahead = own, *there = own + length, *behind = own + 2 * length;
    for (int k = 0; k < 3; k++)
        lane[k] = lanes + k * pitch + VMAX;
    memcpy(lane[0], road, length), memcpy(lane[1], road + length, length);
    for (int step = 0; step < steps; step++) {
        signed char *restrict from = lane[step % 2], *restrict to = lane[1 - step % 2];
        close_ring(from, length), close_ring(to, length);
        gaps(from, ahead, length, 1);
        gaps(to, there, length, 1);
        gaps(to, behind, length, -1);
#pragma omp simd
        for (int x = 0; x < length; x++) {
            signed char v = from[x], o = to[x], wanted = v < VMAX ? (signed char)(v + 1) : (signed char)VMAX;
            uchar go = (v != EMPTY) & (o == EMPTY) & (ahead[x] < wanted) & (there[x] >= wanted) & (behind[x] >= VMAX);
            from[x] = go ? (signed char)EMPTY : v;
            to[x] = go ? v : o;
        }
        for (int k = 0; k < 2; k++) {
            signed char *restrict now = lane[k], *restrict next = lane[2];
            close_ring(now, length);
            gaps(now, ahead, length, 1);
            memset(next, EMPTY, length);
            uint first = (step * 2 + k) * 1000003u;
#pragma omp simd
            for (int x = 0; x < length; x++) {
                signed char v = now[x] < VMAX ? (signed char)(now[x] + 1) : (signed char)VMAX;
                v = v < (signed char)ahead[x] ? v : (signed char)ahead[x];
                there[x] = v - ((v > 0) & (hash(first + x) < dawdle));
            }
            for (int x = 0; x < length; x++)
                if (now[x] != EMPTY) {
                    int at = x + there[x];
                    if (at >= length)
                        flow[k]++, at -= length;
                    next[at] = there[x];
                }
            lane[2] = now, lane[k] = next;
        }
    }
    memcpy(road, lane[0], length), memcpy(road + length, lane[1], length);
    free(lanes);
    free(own);
}

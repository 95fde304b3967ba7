// A decoder's filter of edges between blocks; four lines across an edge are brought side by side first.
#include "native.h"

static const uchar tc_table[54] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0,  0,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2,  2,  2,  3,  3,  3,  3,  4,
                                   4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20, 22, 24};

static inline int clip3(int lo, int hi, int v) { return v < lo ? lo : v > hi ? hi : v; }
static inline int beta_of(int q) { return q < 16 ? 0 : q < 29 ? q - 10 : 2 * q - 38; }

static inline void edge(uchar *restrict pix, long across, long along, int beta, int tc) {
    int v[8][4];
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
#pragma GCC unroll 4
        for (int d = 0; d < 4; d++)
            v[k][d] = pix[(k - 4) * across + d * along];
    int dp0 = abs(v[1][0] - 2 * v[2][0] + v[3][0]), dq0 = abs(v[6][0] - 2 * v[5][0] + v[4][0]);
    int dp3 = abs(v[1][3] - 2 * v[2][3] + v[3][3]), dq3 = abs(v[6][3] - 2 * v[5][3] + v[4][3]);
    int d0 = dp0 + dq0, d3 = dp3 + dq3, limit = (tc * 5 + 1) >> 1;
    if (d0 + d3 >= beta)
        return;
    if (2 * d0 < beta >> 2 && 2 * d3 < beta >> 2 && abs(v[0][0] - v[3][0]) + abs(v[7][0] - v[4][0]) < beta >> 3 &&
        abs(v[3][0] - v[4][0]) < limit && abs(v[0][3] - v[3][3]) + abs(v[7][3] - v[4][3]) < beta >> 3 &&
        abs(v[3][3] - v[4][3]) < limit) {
        int t = 2 * tc;
#pragma omp simd
        for (int d = 0; d < 4; d++) {
            int p3 = v[0][d], p2 = v[1][d], p1 = v[2][d], p0 = v[3][d];
            int q0 = v[4][d], q1 = v[5][d], q2 = v[6][d], q3 = v[7][d];
            v[1][d] = p2 + clip3(-t, t, ((2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3) - p2);
            v[2][d] = p1 + clip3(-t, t, ((p2 + p1 + p0 + q0 + 2) >> 2) - p1);
            v[3][d] = p0 + clip3(-t, t, ((p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3) - p0);
            v[4][d] = q0 + clip3(-t, t, ((p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3) - q0);
            v[5][d] = q1 + clip3(-t, t, ((p0 + q0 + q1 + q2 + 2) >> 2) - q1);
            v[6][d] = q2 + clip3(-t, t, ((2 * q3 + 3 * q2 + q1 + q0 + p0 + 4) >> 3) - q2);
        }
    } else {
        int half = tc >> 1, side = (beta + (beta >> 1)) >> 3, p_too = dp0 + dp3 < side, q_too = dq0 + dq3 < side;
#pragma omp simd
        for (int d = 0; d < 4; d++) {
            int p2 = v[1][d], p1 = v[2][d], p0 = v[3][d], q0 = v[4][d], q1 = v[5][d], q2 = v[6][d];
            int delta = (9 * (q0 - p0) - 3 * (q1 - p1) + 8) >> 4, small = abs(delta) < 10 * tc;
            delta = clip3(-tc, tc, delta);
            int p = clip3(-half, half, (((p2 + p0 + 1) >> 1) - p1 + delta) >> 1);
            int q = clip3(-half, half, (((q2 + q0 + 1) >> 1) - q1 - delta) >> 1);
            v[3][d] = small ? clip3(0, 255, p0 + delta) : p0;
            v[4][d] = small ? clip3(0, 255, q0 - delta) : q0;
            v[2][d] = small && p_too ? clip3(0, 255, p1 + p) : p1;
            v[5][d] = small && q_too ? clip3(0, 255, q1 + q) : q1;
        }
    }
#pragma GCC unroll 8
    for (int k = 1; k < 7; k++)
#pragma GCC unroll 4
        for (int d = 0; d < 4; d++)
            pix[(k - 4) * across + d * along] = v[k][d];
}

void run(uchar *restrict frame, const uchar *restrict bs, const signed char *restrict qp, int pitch, int w, int h,
         int beta_offset, int tc_offset) {
    for (int vertical = 1; vertical >= 0; vertical--)
        for (int y = vertical ? 0 : 8; y < h; y += vertical ? 4 : 8)
            for (int x = vertical ? 8 : 0; x < w; x += vertical ? 8 : 4) {
                int strength = bs[(y >> 2) * (w >> 2) + (x >> 2)] >> (vertical ? 0 : 2) & 3;
                if (!strength)
                    continue;
                const signed char *at = qp + (y >> 3) * (w >> 3) + (x >> 3);
                int average = (at[0] + at[vertical ? -1 : -(w >> 3)] + 1) >> 1;
                int beta = beta_of(clip3(0, 51, average + beta_offset));
                int tc = tc_table[clip3(0, 53, average + 2 * (strength - 1) + tc_offset)];
                uchar *pix = frame + (long)y * pitch + x;
                if (vertical)
                    edge(pix, 1, pitch, beta, tc);
                else
                    edge(pix, pitch, 1, beta, tc);
            }
}

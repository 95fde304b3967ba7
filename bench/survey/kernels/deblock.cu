// A video decoder's filter of edges between blocks (as HEVC has it, luma): a thread for each four lines of an edge of
// the 8 x 8 grid, first all vertical edges, then all horizontal ones.
#include <stdint.h>

__constant__ uint8_t tc_table[54] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0,  0,
                                     1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2,  2,  2,  3,  3,  3,  3,  4,
                                     4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20, 22, 24};
__constant__ uint8_t beta_table[52] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  6,  7,
                                       8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 26, 28, 30, 32,
                                       34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64};

__device__ __forceinline__ int clip3(int lo, int hi, int v) { return v < lo ? lo : v > hi ? hi : v; }
__device__ __forceinline__ uint8_t clip_pixel(int v) { return (uint8_t)clip3(0, 255, v); }

// `xstride`: across the edge, `ystride`: along it.
__device__ void filter_edge(uint8_t *pix, ptrdiff_t xstride, ptrdiff_t ystride, int beta, int tc) {
#define P(k) ((int)pix[-(k + 1) * xstride])
#define Q(k) ((int)pix[(k) * xstride])
#define TP(k) ((int)pix[-(k + 1) * xstride + 3 * ystride])
#define TQ(k) ((int)pix[(k) * xstride + 3 * ystride])
    const int dp0 = abs(P(2) - 2 * P(1) + P(0)), dq0 = abs(Q(2) - 2 * Q(1) + Q(0));
    const int dp3 = abs(TP(2) - 2 * TP(1) + TP(0)), dq3 = abs(TQ(2) - 2 * TQ(1) + TQ(0));
    const int d0 = dp0 + dq0, d3 = dp3 + dq3;
    if (d0 + d3 >= beta)
        return;
    const int beta_3 = beta >> 3, beta_2 = beta >> 2, tc25 = (tc * 5 + 1) >> 1;
    if (abs(P(3) - P(0)) + abs(Q(3) - Q(0)) < beta_3 && abs(P(0) - Q(0)) < tc25 &&
        abs(TP(3) - TP(0)) + abs(TQ(3) - TQ(0)) < beta_3 && abs(TP(0) - TQ(0)) < tc25 && 2 * d0 < beta_2 &&
        2 * d3 < beta_2) {
        const int tc2 = tc * 2;
        for (int d = 0; d < 4; d++) {
            const int p3 = P(3), p2 = P(2), p1 = P(1), p0 = P(0), q0 = Q(0), q1 = Q(1), q2 = Q(2), q3 = Q(3);
            pix[-xstride] = p0 + clip3(-tc2, tc2, ((p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3) - p0);
            pix[-2 * xstride] = p1 + clip3(-tc2, tc2, ((p2 + p1 + p0 + q0 + 2) >> 2) - p1);
            pix[-3 * xstride] = p2 + clip3(-tc2, tc2, ((2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3) - p2);
            pix[0] = q0 + clip3(-tc2, tc2, ((p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3) - q0);
            pix[xstride] = q1 + clip3(-tc2, tc2, ((p0 + q0 + q1 + q2 + 2) >> 2) - q1);
            pix[2 * xstride] = q2 + clip3(-tc2, tc2, ((2 * q3 + 3 * q2 + q1 + q0 + p0 + 4) >> 3) - q2);
            pix += ystride;
        }
    } else {
        const int tc_2 = tc >> 1, side = (beta + (beta >> 1)) >> 3;
        const bool nd_p = dp0 + dp3 < side, nd_q = dq0 + dq3 < side;
        for (int d = 0; d < 4; d++, pix += ystride) {
            const int p2 = P(2), p1 = P(1), p0 = P(0), q0 = Q(0), q1 = Q(1), q2 = Q(2);
            int delta = (9 * (q0 - p0) - 3 * (q1 - p1) + 8) >> 4;
            if (abs(delta) >= 10 * tc)
                continue;
            delta = clip3(-tc, tc, delta);
            pix[-xstride] = clip_pixel(p0 + delta);
            pix[0] = clip_pixel(q0 - delta);
            if (nd_p)
                pix[-2 * xstride] = clip_pixel(p1 + clip3(-tc_2, tc_2, (((p2 + p0 + 1) >> 1) - p1 + delta) >> 1));
            if (nd_q)
                pix[xstride] = clip_pixel(q1 + clip3(-tc_2, tc_2, (((q2 + q0 + 1) >> 1) - q1 - delta) >> 1));
        }
    }
}

// `vertical`: the edges' direction. `bs`: strengths 0 to 2 of edges, [h / 4][w / 4] for both directions (bits 0-1 and
// 2-3). `qp`: for blocks of 8 x 8.
extern "C" __global__ void deblock(uint8_t *frame, int pitch, int w, int h, const uint8_t *__restrict__ bs,
                                   const int8_t *__restrict__ qp, int vertical, int beta_offset, int tc_offset) {
    const int u = blockIdx.x * blockDim.x + threadIdx.x, v = blockIdx.y * blockDim.y + threadIdx.y;
    int x, y;
    if (vertical)
        x = 8 * (u + 1), y = 4 * v;
    else
        x = 4 * u, y = 8 * (v + 1);
    if (x >= w || y >= h)
        return;
    const int strength = bs[(y >> 2) * (w >> 2) + (x >> 2)] >> (vertical ? 0 : 2) & 3;
    if (strength == 0)
        return;
    const int here = qp[(y >> 3) * (w >> 3) + (x >> 3)];
    const int other = vertical ? qp[(y >> 3) * (w >> 3) + (x >> 3) - 1] : qp[((y >> 3) - 1) * (w >> 3) + (x >> 3)];
    const int average = (here + other + 1) >> 1;
    const int beta = beta_table[clip3(0, 51, average + beta_offset)];
    const int tc = tc_table[clip3(0, 53, average + 2 * (strength - 1) + tc_offset)];
    uint8_t *pix = frame + (size_t)y * pitch + x;
    filter_edge(pix, vertical ? 1 : pitch, vertical ? pitch : 1, beta, tc);
}

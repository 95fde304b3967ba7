// Motors under PID control in saturating numbers of 16.16 bits.
#include "native.h"

typedef struct {
    int p, i, d, delay;
} Gains;

enum { W = 16 };  // motors side by side, so that gcc makes vectors

static inline int clip(long long v) {
    v = v > INT32_MAX ? INT32_MAX : v;
    return v < INT32_MIN ? INT32_MIN : v;
}
static inline int add(int a, int b) { return clip((long long)a + b); }
static inline int sub(int a, int b) { return clip((long long)a - b); }
static inline int mul(int a, int b) { return clip(((long long)a * b + 0x8000) >> 16); }
static inline int magnitude(int a) {
    long long up = a, down = -up;
    return clip(up > down ? up : down);
}

// Exact, as the numerator has 48 bits: a quotient is never so near to a whole number that it is rounded to it.
static inline int quotient(int a, int b) { return clip((long long)((double)((long long)a << 16) / b)); }

void run(const Gains *restrict gains, const int *restrict targets, short *restrict last, long long *restrict cost,
         int *restrict settled, int dt, int torque, int drag, int limit, int steps, int hold, int count) {
    for (int first = 0; first < count; first += W) {
        int lanes = MIN(W, count - first);
        int p[W], i[W], d[W], delay[W], at[W] = {0}, ring[12 * W] = {0}, place[W] = {0}, speed[W] = {0}, sum[W] = {0};
        int before[W] = {0}, quiet[W] = {0};
        long long squares[W] = {0};
        for (int l = 0; l < W; l++) {
            Gains g = gains[first + MIN(l, lanes - 1)];
            p[l] = g.p, i[l] = g.i, d[l] = g.d, delay[l] = g.delay;
        }
        for (int t = 0; t < steps; t++) {
            int target = targets[t / hold & 3];
#pragma omp simd
            for (int l = 0; l < W; l++) {
                ring[at[l] * W + l] = place[l];
                int next = at[l] + 1, here = next == delay[l] ? 0 : next;
                at[l] = here;
                int error = sub(target, ring[here * W + l]);
                int share = mul(error, dt), total = add(sum[l], share);
                int drive = add(add(mul(p[l], error), mul(i[l], total)), mul(d[l], quotient(sub(error, before[l]), dt)));
                before[l] = error;
                int over = limit < magnitude(drive), bound = drive < 0 ? -limit : limit, less = sub(total, share);
                drive = over ? bound : drive;
                sum[l] = over ? less : total;
                int v = speed[l], friction = add(mul(drag, v), quotient(v, add(1 << 16, magnitude(v))));
                v = add(v, mul(sub(mul(torque, drive), friction), dt));
                speed[l] = v;
                place[l] = add(place[l], mul(v, dt));
                int off = magnitude(sub(target, place[l]));
                squares[l] += (long long)off * off >> 16;
                int longer = quiet[l] + 1;
                quiet[l] = off < 1 << 12 ? longer : 0;
            }
        }
        for (int l = 0; l < lanes; l++) {
            int x = place[l] >> 6, v = speed[l] >> 6, id = first + l;
            last[2 * id] = MIN(MAX(x, -32768), 32767);
            last[2 * id + 1] = MIN(MAX(v, -32768), 32767);
            cost[id] = squares[l];
            settled[id] = steps - quiet[l];
        }
    }
}

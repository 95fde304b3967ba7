// Motors under PID control in saturating numbers of 16.16 bits.
#include "native.h"

typedef struct {
    int p, i, d, delay;
} Gains;

static inline int clip(long long v) { return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v; }
static inline int add(int a, int b) { return clip((long long)a + b); }
static inline int sub(int a, int b) { return clip((long long)a - b); }
static inline int mul(int a, int b) { return clip(((long long)a * b + 0x8000) >> 16); }
static inline int quotient(int a, int b) { return clip(((long long)a << 16) / b); }
static inline int magnitude(int a) { return a < 0 ? sub(0, a) : a; }

void run(const Gains *restrict gains, const int *restrict targets, short *restrict last, long long *restrict cost,
         int *restrict settled, int dt, int torque, int drag, int limit, int steps, int hold, int count) {
    for (int id = 0; id < count; id++) {
        Gains g = gains[id];
        int ring[12] = {0}, place = 0, speed = 0, sum = 0, before = 0, quiet = 0, at = 0;
        long long squares = 0;
        for (int t = 0; t < steps; t++) {
            int target = targets[t / hold & 3];
            ring[at] = place;
            at = at + 1 == g.delay ? 0 : at + 1;
            int error = sub(target, ring[at]);
            int share = mul(error, dt);
            sum = add(sum, share);
            int drive = add(add(mul(g.p, error), mul(g.i, sum)), mul(g.d, quotient(sub(error, before), dt)));
            before = error;
            if (limit < magnitude(drive)) {
                drive = drive < 0 ? -limit : limit;
                sum = sub(sum, share);
            }
            int friction = add(mul(drag, speed), quotient(speed, add(1 << 16, magnitude(speed))));
            speed = add(speed, mul(sub(mul(torque, drive), friction), dt));
            place = add(place, mul(speed, dt));
            int off = magnitude(sub(target, place));
            squares += (long long)off * off >> 16;
            quiet = off < 1 << 12 ? quiet + 1 : 0;
        }
        int x = place >> 6, v = speed >> 6;
        last[2 * id] = MIN(MAX(x, -32768), 32767);
        last[2 * id + 1] = MIN(MAX(v, -32768), 32767);
        cost[id] = squares;
        settled[id] = steps - quiet;
    }
}

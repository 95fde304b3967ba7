// A sweep over gains of a PID controller in saturating fixed point, Q15.16; gains side by side.
#include "native.h"

enum { W = 8, DELAY = 5, ONE = 1 << 16 };

// All in 64 bits, of which gcc makes vectors; a double holds what is divided without rounding.
static inline int64_t sat(int64_t v) {
    v = v > INT32_MAX ? INT32_MAX : v;
    return v < INT32_MIN ? INT32_MIN : v;
}

static inline int64_t mul(int64_t a, int64_t b) {
    return sat((a * b + ONE / 2) >> 16);
}

static inline int64_t clamped(int64_t v, int64_t limit) {
    return v < -limit ? -limit : v > limit ? limit : v;
}

void run(const int *restrict gains, const int *restrict setpoint, int *restrict cost, int *restrict peak, int n,
         int steps) {
    const int dt = 0.05 * ONE, damping = 0.7 * ONE, stiffness = 1.3 * ONE, mass = 1.75 * ONE;
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first);
        int64_t kp[W] = {0}, ki[W] = {0}, kd[W] = {0}, integral[W] = {0}, before[W] = {0}, late[DELAY][W] = {{0}};
        int64_t position[W] = {0}, speed[W] = {0}, sum[W] = {0}, highest[W] = {0};
        for (int i = 0; i < lanes; i++)
            kp[i] = gains[3 * (first + i)], ki[i] = gains[3 * (first + i) + 1], kd[i] = gains[3 * (first + i) + 2];
        for (int k = 0, slot = 0; k < steps; k++) {
            int64_t *restrict row = late[slot];
#pragma omp simd
            for (int i = 0; i < W; i++) {
                int64_t error = sat(setpoint[k] - position[i]), force = row[i];
                integral[i] = clamped(sat(integral[i] + mul(ki[i], error)), 20 * ONE);
                int64_t slope = sat(error - before[i]);
                before[i] = error;
                int64_t u = sat(mul(kp[i], error) + integral[i]);
                row[i] = clamped(sat(u + mul(kd[i], slope)), 50 * ONE);
                int64_t f = sat(force - mul(damping, speed[i]));
                f = sat(f - mul(stiffness, position[i]));
                int64_t acceleration = (int64_t)((double)f * ONE / mass);
                speed[i] = sat(speed[i] + mul(acceleration, dt));
                position[i] = sat(position[i] + mul(speed[i], dt));
                int64_t size = error < 0 ? sat(-error) : error;
                sum[i] = sat(sum[i] + mul(size, dt));
                highest[i] = MAX(highest[i], position[i]);
            }
            slot = slot + 1 == DELAY ? 0 : slot + 1;
        }
        for (int i = 0; i < lanes; i++)
            cost[first + i] = sum[i], peak[first + i] = highest[i];
    }
}

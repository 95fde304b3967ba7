// A sweep over gains of a PID controller in saturating fixed point, Q15.16; gains side by side.
#include "native.h"

enum { W = 16, DELAY = 5, ONE = 1 << 16 };

static inline int sat(int64_t v) {
    v = v > INT32_MAX ? INT32_MAX : v;
    return v < INT32_MIN ? INT32_MIN : v;
}

static inline int mul(int a, int b) {
    return sat(((int64_t)a * b + ONE / 2) >> 16);
}

static inline int clamped(int v, int limit) {
    return v < -limit ? -limit : v > limit ? limit : v;
}

void run(const int *restrict gains, const int *restrict setpoint, int *restrict cost, int *restrict peak, int n,
         int steps) {
    const int dt = 0.05 * ONE, damping = 0.7 * ONE, stiffness = 1.3 * ONE, mass = 1.75 * ONE;
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first);
        int kp[W] = {0}, ki[W] = {0}, kd[W] = {0}, integral[W] = {0}, before[W] = {0}, late[DELAY][W] = {{0}};
        int position[W] = {0}, speed[W] = {0}, sum[W] = {0}, highest[W] = {0};
        for (int i = 0; i < lanes; i++)
            kp[i] = gains[3 * (first + i)], ki[i] = gains[3 * (first + i) + 1], kd[i] = gains[3 * (first + i) + 2];
        for (int k = 0, slot = 0; k < steps; k++) {
            int *restrict row = late[slot];
#pragma omp simd
            for (int i = 0; i < W; i++) {
                int error = sat((int64_t)setpoint[k] - position[i]), force = row[i];
                integral[i] = clamped(sat((int64_t)integral[i] + mul(ki[i], error)), 20 * ONE);
                int slope = sat((int64_t)error - before[i]);
                before[i] = error;
                int u = sat((int64_t)mul(kp[i], error) + integral[i]);
                row[i] = clamped(sat((int64_t)u + mul(kd[i], slope)), 50 * ONE);
                int f = sat((int64_t)force - mul(damping, speed[i]));
                f = sat((int64_t)f - mul(stiffness, position[i]));
                int acceleration = sat((int64_t)f * ONE / mass);
                speed[i] = sat((int64_t)speed[i] + mul(acceleration, dt));
                position[i] = sat((int64_t)position[i] + mul(speed[i], dt));
                int size = error < 0 ? sat(-(int64_t)error) : error;
                sum[i] = sat((int64_t)sum[i] + mul(size, dt));
                highest[i] = MAX(highest[i], position[i]);
            }
            slot = slot + 1 == DELAY ? 0 : slot + 1;
        }
        memcpy(cost + first, sum, lanes * sizeof(int));
        memcpy(peak + first, highest, lanes * sizeof(int));
    }
}

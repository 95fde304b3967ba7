// An American put by least squares: paths side by side, regressions in vectors of doubles.
#include "native.h"
__attribute__((simd("notinbranch"))) extern float logf(float);
__attribute__((simd("notinbranch"))) extern float cosf(float);
enum { W = 64 };

static inline uint word_of(uint s) {
    uint w = (s >> ((s >> 28) + 4) ^ s) * 277803737u;
    return w >> 22 ^ w;
}

static inline uint after(uint s) { return s * 747796405u + 2891336453u; }

static void simulate(float *restrict price, int paths, int steps, uint seed, float s0, float drift, float vol) {
    for (int first = 0; first < paths; first += W) {
        int lanes = MIN(W, paths - first);
        uint state[W];
        float log_s[W], spare[W];
        for (int l = 0; l < W; l++) {
            state[l] = after(seed + (first + l) * 2654435761u);
            log_s[l] = logf(s0);
        }
        for (int t = 0; t < steps; t += 2) {
#pragma omp simd
            for (int l = 0; l < W; l++) {
                uint a = state[l], b = after(a);
                state[l] = after(b);
                float u1 = (int)((word_of(a) >> 8) + 1) * (1.0f / 16777216);
                float angle = 6.2831853f * (int)(word_of(b) >> 8) * (1.0f / 16777216);
                float r = sqrtf(-2 * logf(u1));
                log_s[l] += drift + vol * r * cosf(angle);
                spare[l] = r * cosf(angle - 1.5707963f);
            }
            float *restrict to = price + (long)t * paths + first;
#pragma omp simd
            for (int l = 0; l < lanes; l++)
                to[l] = expf(log_s[l]);
            if (t + 1 < steps) {
                to += paths;
#pragma omp simd
                for (int l = 0; l < W; l++)
                    log_s[l] += drift + vol * spare[l];
#pragma omp simd
                for (int l = 0; l < lanes; l++)
                    to[l] = expf(log_s[l]);
            }
        }
    }
}

void run(float *restrict price, float *restrict cash, int paths, int steps, uint seed, float s0,
         float drift, float vol, float strike, float discount) {
    simulate(price, paths, steps, seed, s0, drift, vol);
    const float *restrict last = price + (long)(steps - 1) * paths;
    for (int p = 0; p < paths; p++)
        cash[p] = last[p] < strike ? strike - last[p] : 0;
    for (int t = steps - 2; t >= 0; t--) {
        const float *restrict price_now = price + (long)t * paths;
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, y0 = 0, y1 = 0, y2 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, y0, y1, y2)
        for (int p = 0; p < paths; p++) {
            double in = price_now[p] < strike ? 1 : 0, x = price_now[p] / strike, y = in * (discount * cash[p]);
            double x1 = in * x, x2 = x1 * x;
            s0 += in, s1 += x1, s2 += x2, s3 += x2 * x, s4 += x2 * x * x;
            y0 += y, y1 += y * x, y2 += y * x * x;
        }
        double c00 = s2 * s4 - s3 * s3, c01 = s2 * s3 - s1 * s4, c02 = s1 * s3 - s2 * s2;
        double c11 = s0 * s4 - s2 * s2, c12 = s1 * s2 - s0 * s3, c22 = s0 * s2 - s1 * s1;
        double det = s0 * c00 + s1 * c01 + s2 * c02, inv = s0 >= 3 && fabs(det) > 1e-12 ? 1 / det : 0;
        double b0 = inv * (c00 * y0 + c01 * y1 + c02 * y2);
        double b1 = inv * (c01 * y0 + c11 * y1 + c12 * y2);
        double b2 = inv * (c02 * y0 + c12 * y1 + c22 * y2);
#pragma omp simd
        for (int p = 0; p < paths; p++) {
            float s = price_now[p], later = discount * cash[p];
            double x = s / strike, expected = b0 + x * (b1 + x * b2);
            cash[p] = (s < strike) & (strike - s > expected) ? strike - s : later;
        }
    }
}

// Fits a * exp(-r t) + c to the echoes of each pixel by Levenberg-Marquardt.
#include "native.h"
enum { MOST = 64 };

static float error(const float *restrict t, const float *restrict y, int count, const float *p) {
    float a = p[0], rate = p[1], c = p[2], sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int e = 0; e < count; e++) {
        float r = a * expf(-t[e] * rate) + c - y[e];
        sum += r * r;
    }
    return sum;
}

static int solve(float m[3][3], float *b) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            float sum = m[i][j];
            for (int k = 0; k < j; k++)
                sum -= m[i][k] * m[j][k];
            if (i != j)
                m[i][j] = sum / m[j][j];
            else if (sum > 0)
                m[i][i] = sqrtf(sum);
            else
                return 0;
        }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= m[i][k] * b[k];
        b[i] /= m[i][i];
    }
    for (int i = 2; i >= 0; i--) {
        for (int k = i + 1; k < 3; k++)
            b[i] -= m[k][i] * b[k];
        b[i] /= m[i][i];
    }
    return 1;
}

static void fit(const float *restrict t, const float *restrict y, int count, float *p, int rounds) {
    float damping = 1e-2f, cost = error(t, y, count, p);
    for (int round = 0; round < rounds; round++) {
        float a = p[0], rate = p[1], c = p[2];
        float n00 = 0, n10 = 0, n11 = 0, n20 = 0, n21 = 0, s0 = 0, s1 = 0, s2 = 0;
#pragma omp simd reduction(+ : n00, n10, n11, n20, n21, s0, s1, s2)
        for (int e = 0; e < count; e++) {
            float g0 = expf(-t[e] * rate), g1 = -a * t[e] * g0, r = a * g0 + c - y[e];
            n00 += g0 * g0;
            n10 += g1 * g0;
            n11 += g1 * g1;
            n20 += g0;
            n21 += g1;
            s0 += g0 * r;
            s1 += g1 * r;
            s2 += r;
        }
        float more = 1 + damping;
        float normal[3][3] = {{n00 * more}, {n10, n11 * more}, {n20, n21, count * more}}, step[3] = {s0, s1, s2};
        if (!solve(normal, step)) {
            damping *= 8;
            continue;
        }
        float trial[3] = {a - step[0], rate - step[1], c - step[2]};
        float trial_cost = error(t, y, count, trial);
        if (trial_cost < cost) {
            int done = cost - trial_cost < 1e-6f * cost;
            memcpy(p, trial, sizeof trial);
            cost = trial_cost;
            damping *= 0.25f;
            if (done)
                break;
        } else {
            damping *= 8;
        }
    }
}

void run(const float *restrict times, const float *restrict echoes, float *restrict map, int count, int pixels,
         float background, int rounds) {
    for (int pixel = 0; pixel < pixels; pixel++) {
        float y[MOST], p[3] = {0};
        if (echoes[pixel] >= background) {
            for (int e = 0; e < count; e++)
                y[e] = echoes[e * pixels + pixel];
            p[0] = y[0] - y[count - 1];
            p[1] = 2 / times[count / 2];
            p[2] = y[count - 1];
            fit(times, y, count, p, rounds);
        }
        for (int k = 0; k < 3; k++)
            map[k * pixels + pixel] = p[k];
    }
}

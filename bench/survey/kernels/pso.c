#include "native.h"

// A swarm that looks for the least value of Levy's function. Particles lie side by side.
#define PHI 3.14159265358979323846
__attribute__((simd("notinbranch"))) extern double sin(double);
enum { W = 64 };

static inline double hash01(uint a, uint b) {
    uint h = a * 0x9E3779B1u ^ b * 0x85EBCA77u;
    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    h ^= h >> 12;
    h *= 0x297A2D39u;
    h ^= h >> 15;
    return h * (1.0 / 4294967296.0);
}

void run(double *restrict x, double *restrict v, double *restrict best_x, double *restrict best,
         double *restrict swarm, double *restrict history, int particles, int dims, double omega, double c1,
         double c2, double limit, int rounds) {
    for (int round = 0; round <= rounds; round++) {
        for (int d = 0; round > 0 && d < dims; d++) {
            double goal = swarm[d];
#pragma omp simd
            for (int i = 0; i < particles; i++) {
                int at = d * particles + i;
                double r1 = hash01(at, 2 * round), r2 = hash01(at, 2 * round + 1), p = x[at];
                double w = omega * v[at] + c1 * r1 * (best_x[at] - p) + c2 * r2 * (goal - p);
                w = w < limit ? w : limit;
                w = w > -limit ? w : -limit;
                v[at] = w;
                p += w;
                p = p < 10 ? p : 10;
                x[at] = p > -10 ? p : -10;
            }
        }
        for (int first = 0; first < particles; first += W) {
            int lanes = MIN(W, particles - first);
            double sum[W];
#pragma omp simd
            for (int i = 0; i < lanes; i++) {
                double s = sin(PHI * (1 + (x[first + i] - 1) * 0.25));
                sum[i] = s * s;
            }
            for (int d = 0; d < dims - 1; d++)
#pragma omp simd
                for (int i = 0; i < lanes; i++) {
                    double w = 1 + (x[d * particles + first + i] - 1) * 0.25, s = sin(PHI * w + 1);
                    sum[i] += (w - 1) * (w - 1) * (1 + 10 * s * s);
                }
#pragma omp simd
            for (int i = 0; i < lanes; i++) {
                double w = 1 + (x[(dims - 1) * particles + first + i] - 1) * 0.25, s = sin(2 * PHI * w);
                sum[i] += (w - 1) * (w - 1) * (1 + s * s);
            }
            for (int i = 0; i < lanes; i++)
                if (sum[i] < best[first + i]) {
                    best[first + i] = sum[i];
                    for (int d = 0; d < dims; d++)
                        best_x[d * particles + first + i] = x[d * particles + first + i];
                }
        }
        int where = 0;
        for (int i = 1; i < particles; i++)
            if (best[i] < best[where])
                where = i;
        for (int d = 0; d < dims; d++)
            swarm[d] = best_x[d * particles + where];
        history[round] = best[where];
    }
}

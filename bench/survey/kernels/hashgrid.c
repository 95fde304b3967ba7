// A level of hash grids at a time, 64 points side by side: entries and weights as vectors, then the features.
#include "native.h"
#include <immintrin.h>
enum { W = 64 };

typedef struct {
    uint offset, size, resolution;
    float scale;
} Level;

void run(const float *restrict points, const _Float16 *restrict table, const Level *restrict levels,
         const float *restrict d_encoded, float *restrict encoded, float *restrict d_table, int n, int count) {
    for (int l = 0; l < count; l++) {
        Level level = levels[l];
        uint r = level.resolution;
        int dense = (ull)r * r * r <= level.size;
        const _Float16 *features = table + 2 * (long)level.offset;
        float *gradient = d_table + 2 * (long)level.offset;
        for (int first = 0; first < n; first += W) {
            int lanes = MIN(W, n - first);
            uint entry[8][W];
            float weight[8][W];
            const float *p = points + 3 * (long)first;
#pragma omp simd
            for (int i = 0; i < lanes; i++) {
                float x = level.scale * p[3 * i] + 0.5f, y = level.scale * p[3 * i + 1] + 0.5f;
                float z = level.scale * p[3 * i + 2] + 0.5f;
                float bx = floorf(x), by = floorf(y), bz = floorf(z);
                uint cx = (int)bx, cy = (int)by, cz = (int)bz;
                float fx = x - bx, fy = y - by, fz = z - bz;
                for (int k = 0; k < 8; k++) {
                    uint ax = cx + (k & 1), ay = cy + (k >> 1 & 1), az = cz + (k >> 2);
                    weight[k][i] = (k & 1 ? fx : 1 - fx) * (k & 2 ? fy : 1 - fy) * (k & 4 ? fz : 1 - fz);
                    entry[k][i] = dense ? ax + r * (ay + r * az) : ax ^ ay * 2654435761u ^ az * 805459861u;
                }
            }
            if (!dense && !(level.size & (level.size - 1))) {
                for (int k = 0; k < 8; k++)
                    for (int i = 0; i < lanes; i++)
                        entry[k][i] &= level.size - 1;
            } else
                for (int k = 0; k < 8; k++)
                    for (int i = 0; i < lanes; i++)
                        if (entry[k][i] >= level.size)
                            entry[k][i] %= level.size;
            const float *gx = d_encoded + 2 * (long)l * n + first, *gy = gx + n;
            float *ex = encoded + 2 * (long)l * n + first, *ey = ex + n;
            for (int i = 0; i < lanes; i++) {
                __m128 sum = _mm_setzero_ps();
                for (int k = 0; k < 8; k++) {
                    __m128 f = _mm_cvtph_ps(_mm_loadu_si32(features + 2 * (long)entry[k][i]));
                    sum = _mm_add_ps(sum, _mm_mul_ps(_mm_set1_ps(weight[k][i]), f));
                }
                ex[i] = sum[0];
                ey[i] = sum[1];
            }
            for (int i = 0; i < lanes; i++) {
                if (gx[i] == 0 && gy[i] == 0)
                    continue;
                for (int k = 0; k < 8; k++) {
                    float *to = gradient + 2 * (long)entry[k][i];
                    to[0] += weight[k][i] * gx[i];
                    to[1] += weight[k][i] * gy[i];
                }
            }
        }
    }
}

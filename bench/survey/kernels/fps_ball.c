// Furthest points by turns, their neighbours and these neighbours' features; coordinates apart for vectors.
#include "native.h"

void run(const float *restrict xyz, const float *restrict features, int *restrict chosen, int *restrict neighbours,
         float *restrict grouped, int n, int m, float radius, int nsample, int channels, int clouds) {
    float *x = malloc(4 * n * sizeof *x), *y = x + n, *z = y + n, *nearest = z + n;
    for (int cloud = 0; cloud < clouds; cloud++) {
        const float *points = xyz + (long)cloud * n * 3;
        for (int k = 0; k < n; k++) {
            x[k] = points[3 * k];
            y[k] = points[3 * k + 1];
            z[k] = points[3 * k + 2];
            nearest[k] = 1e10f;
        }
        int *mine = chosen + (long)cloud * m, old = 0;
        mine[0] = 0;
        for (int j = 1; j < m; j++) {
            float x1 = x[old], y1 = y[old], z1 = z[old], best = -1;
#pragma omp simd reduction(max : best)
            for (int k = 0; k < n; k++) {
                float dx = x[k] - x1, dy = y[k] - y1, dz = z[k] - z1, d = dx * dx + dy * dy + dz * dz;
                d = d < nearest[k] ? d : nearest[k];
                nearest[k] = d;
                best = d > best ? d : best;
            }
            for (old = 0; nearest[old] != best; old++)
                ;
            mine[j] = old;
        }
        float radius2 = radius * radius;
        int *lists = neighbours + (long)cloud * m * nsample;
        for (int j = 0; j < m; j++) {
            int centre = mine[j], count = 0, *list = lists + (long)j * nsample;
            float cx = x[centre], cy = y[centre], cz = z[centre];
            for (int first = 0; first < n && count < nsample; first += 64) {
                int lanes = MIN(64, n - first), any = 0;
                uchar inside[64];
#pragma omp simd reduction(| : any)
                for (int i = 0; i < lanes; i++) {
                    float dx = cx - x[first + i], dy = cy - y[first + i], dz = cz - z[first + i];
                    inside[i] = dx * dx + dy * dy + dz * dz < radius2;
                    any |= inside[i];
                }
                if (any)
                    for (int i = 0; i < lanes && count < nsample; i++)
                        if (inside[i])
                            list[count++] = first + i;
            }
            for (int i = MAX(count, 1); i < nsample; i++)
                list[i] = list[0];
        }
        for (int c = 0; c < channels; c++) {
            const float *from = features + ((long)cloud * channels + c) * n;
            float *to = grouped + ((long)cloud * channels + c) * m * nsample;
            for (int i = 0; i < m * nsample; i++)
                to[i] = from[lists[i]];
        }
    }
    free(x);
}

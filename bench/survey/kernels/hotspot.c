#include "native.h"

static void step(const float *restrict u, const float *restrict p, float *restrict o, int cols, int rows, float cap, float rx,
                 float ry, float rz) {
    for (int y = 0; y < rows; y++) {
        const float *c = u + y * cols, *n = y ? c - cols : c, *s = y < rows - 1 ? c + cols : c;
        for (int x = 0; x < cols; x += cols - 1)
            o[y * cols + x] = c[x] + cap * (p[y * cols + x] + (s[x] + n[x] - 2.0f * c[x]) * ry +
                                            (c[MIN(x + 1, cols - 1)] + c[MAX(x - 1, 0)] - 2.0f * c[x]) * rx + (80.0f - c[x]) * rz);
#pragma omp simd
        for (int x = 1; x < cols - 1; x++)
            o[y * cols + x] = c[x] + cap * (p[y * cols + x] + (s[x] + n[x] - 2.0f * c[x]) * ry +
                                            (c[x + 1] + c[x - 1] - 2.0f * c[x]) * rx + (80.0f - c[x]) * rz);
    }
}

void run(const float *restrict power, const float *restrict src, float *restrict dst, int cols, int rows,
         float cap, float rx, float ry, float rz) {
    float *other = malloc(sizeof(float) * cols * rows);
    step(src, power, other, cols, rows, cap, rx, ry, rz);
    step(other, power, dst, cols, rows, cap, rx, ry, rz);
    free(other);
}

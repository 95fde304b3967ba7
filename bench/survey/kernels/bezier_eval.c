#include "native.h"

// Points and normals of rational Bezier patches of degrees 4 and 3, whose coordinates are vectors of four.
enum { N = 4, M = 3 };
typedef float v4 __attribute__((vector_size(16)));
typedef struct {
    int patch;
    float u, v;
} Sample;

static inline v4 strip(v4 *p, int n, float t, v4 *tangent) {
    for (int level = n; level > 1; level--)
        for (int i = 0; i < level; i++)
            p[i] += t * (p[i + 1] - p[i]);
    *tangent = (float)n * (p[1] - p[0]);
    return p[0] + t * (p[1] - p[0]);
}

static inline v4 derivative(v4 point, v4 tangent) {
    float inv = 1 / point[3];
    return (tangent - point * (tangent[3] * inv)) * inv;
}

void run(const float *restrict control, const Sample *restrict samples, float *restrict positions,
         float *restrict normals, int n) {
    for (int i = 0; i < n; i++) {
        Sample s = samples[i];
        v4 across[M + 1], across_u[M + 1], along[N + 1], tv, unused;
        const float *points = control + (size_t)s.patch * (N + 1) * (M + 1) * 4;
        for (int row = 0; row <= M; row++) {
            memcpy(along, points + row * (N + 1) * 4, sizeof along);
            across[row] = strip(along, N, s.u, across_u + row);
        }
        v4 point = strip(across, M, s.v, &tv), tu = strip(across_u, M, s.v, &unused);
        v4 a = derivative(point, tu), b = derivative(point, tv);
        float x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
        float length = sqrtf(x * x + y * y + z * z), inv = length > 1e-12f ? 1 / length : 0;
        for (int c = 0; c < 3; c++)
            positions[3 * i + c] = point[c] / point[3];
        normals[3 * i] = x * inv;
        normals[3 * i + 1] = y * inv;
        normals[3 * i + 2] = z * inv;
    }
}

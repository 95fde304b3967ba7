#include "native.h"

typedef struct {
    float x, y, z;
} V;

typedef struct {
    V a, b, c;
} Triangle;

static inline float edge(V p, V q, float x, float y) { return (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x); }

// A row of pixels at a time, all triangles for each.
void run(const Triangle *restrict triangles, float *restrict depth, int *restrict id, int count, int w, int h) {
    for (int py = 0; py < h; py++) {
        float *nearest = depth + py * w, y = py + 0.5f;
        int *which = id + py * w;
        for (int x = 0; x < w; x++)
            nearest[x] = 1, which[x] = -1;
        for (int i = 0; i < count; i++) {
            Triangle t = triangles[i];
            float area = edge(t.a, t.b, t.c.x, t.c.y);
            if (area <= 0)
                continue;
#pragma omp simd
            for (int px = 0; px < w; px++) {
                float x = px + 0.5f, u = edge(t.b, t.c, x, y), v = edge(t.c, t.a, x, y), s = edge(t.a, t.b, x, y);
                float z = (u * t.a.z + v * t.b.z + s * t.c.z) / area;
                int better = (u >= 0) & (v >= 0) & (s >= 0) & (z < nearest[px]);
                nearest[px] = better ? z : nearest[px];
                which[px] = better ? i : which[px];
            }
        }
    }
}

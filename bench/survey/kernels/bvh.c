#include "native.h"

typedef struct {
    float low[3];
    int first;
    float high[3];
    int count;
} Node;

static int meets(const Node *n, const float *o, const float *inv, float far) {
    float t0 = 0, t1 = far;
    for (int k = 0; k < 3; k++) {
        float a = (n->low[k] - o[k]) * inv[k], b = (n->high[k] - o[k]) * inv[k];
        t0 = MAX(t0, MIN(a, b));
        t1 = MIN(t1, MAX(a, b));
    }
    return t0 <= t1;
}

void run(const Node *restrict nodes, const float *restrict spheres, float *restrict depth, int w, int h) {
    float o[3] = {0.5f, 0.5f, -1};
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float d[3] = {(x + 0.5f) / w - 0.5f, (y + 0.5f) / h - 0.5f, 1}, inv[3] = {1 / d[0], 1 / d[1], 1 / d[2]};
            float far = 1e30f, dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            int stack[32], top = 1;
            stack[0] = 0;
            while (top) {
                const Node *b = nodes + stack[--top];
                if (!meets(b, o, inv, far))
                    continue;
                if (!b->count) {
                    stack[top++] = b->first + 1;
                    stack[top++] = b->first;
                    continue;
                }
                for (int k = b->first; k < b->first + b->count; k++) {
                    const float *s = spheres + 4 * k;
                    float c[3] = {s[0] - o[0], s[1] - o[1], s[2] - o[2]};
                    float m = c[0] * d[0] + c[1] * d[1] + c[2] * d[2];
                    float q = c[0] * c[0] + c[1] * c[1] + c[2] * c[2] - s[3] * s[3], disc = m * m - dd * q;
                    if (disc > 0) {
                        float t = (m - sqrtf(disc)) / dd;
                        if (t > 0 && t < far)
                            far = t;
                    }
                }
            }
            depth[y * w + x] = far;
        }
}

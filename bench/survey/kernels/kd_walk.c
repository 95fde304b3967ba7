#include "native.h"
#define K 8

typedef struct {
    float at[3];
    int id;
} Point;

void run(const Point *restrict tree, const float *restrict query, int *restrict found, float *restrict distance, int n,
         int m) {
    for (int q = 0; q < m; q++) {
        const float *me = query + 3L * q;
        float d2[K], plane[24];
        int id[K], stack[24], top = 0, node = 0, axis = 0, axes[24];
        for (int i = 0; i < K; i++)
            d2[i] = INFINITY, id[i] = -1;
        while (1) {
            if (node >= n) {
                while (top > 0 && plane[top - 1] >= d2[K - 1])
                    top--;
                if (top == 0)
                    break;
                node = stack[--top];
                axis = axes[top];
            }
            const Point *p = tree + node;
            float dx = p->at[0] - me[0], dy = p->at[1] - me[1], dz = p->at[2] - me[2];
            float d = dx * dx + dy * dy + dz * dz, side = me[axis] - p->at[axis];
            if (d < d2[K - 1]) {
                int i = K - 1;
                for (; i > 0 && d2[i - 1] > d; i--)
                    d2[i] = d2[i - 1], id[i] = id[i - 1];
                d2[i] = d, id[i] = p->id;
            }
            axis = axis == 2 ? 0 : axis + 1;
            int far = 2 * node + 2 - (side > 0);
            if (far < n)
                stack[top] = far, axes[top] = axis, plane[top++] = side * side;
            node = 2 * node + 1 + (side > 0);
        }
        for (int i = 0; i < K; i++)
            found[(long)q * K + i] = id[i], distance[(long)q * K + i] = sqrtf(d2[i]);
    }
}

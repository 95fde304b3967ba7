#include "native.h"

typedef struct {
    float x, y;
    int neighbours;
    uchar core;
} Point;

// Coordinates and labels in arrays of each, -1 is far from being a label of those that are no core.
void run(Point *restrict points, int *restrict cluster, int n, float eps, int min_points, int rounds) {
    float *restrict x = malloc(n * sizeof(float)), *restrict y = malloc(n * sizeof(float));
    int *label = malloc(n * sizeof(int)), *next = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        x[i] = points[i].x, y[i] = points[i].y;
    for (int i = 0; i < n; i++) {
        int count = -1;
        double e2 = (double)eps * eps;
#pragma omp simd reduction(+ : count)
        for (int j = 0; j < n; j++) {
            double dx = x[i] - x[j], dy = y[i] - y[j];
            count += dx * dx + dy * dy <= e2;
        }
        points[i].neighbours = count;
        points[i].core = count >= min_points;
        label[i] = points[i].core ? i : n;
    }
    for (int round = 0, changed = 1; round < rounds && changed; round++) {
        changed = 0;
        for (int i = 0; i < n; i++) {
            int smallest = label[i];
            if (smallest < n)
#pragma omp simd reduction(min : smallest)
                for (int j = 0; j < n; j++) {
                    double dx = x[i] - x[j], dy = y[i] - y[j];
                    int other = (float)sqrt(dx * dx + dy * dy) <= eps ? label[j] : n;
                    smallest = MIN(smallest, other);
                }
            next[i] = smallest;
            changed |= smallest != label[i];
        }
        int *swap = label;
        label = next, next = swap;
    }
    for (int i = 0; i < n; i++) {
        int mine = label[i] < n ? label[i] : -1;
        float nearest = 1e30f;
        if (label[i] == n)
            for (int j = 0; j < n; j++) {
                double dx = x[i] - x[j], dy = y[i] - y[j];
                float d = sqrt(dx * dx + dy * dy);
                if (label[j] < n && d <= eps && d < nearest)
                    nearest = d, mine = label[j];
            }
        cluster[i] = mine;
    }
    free(x), free(y), free(label), free(next);
}

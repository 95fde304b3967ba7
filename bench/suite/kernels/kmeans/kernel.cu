// The nearest of the centres for each point, in four dimensions.
#include "dialect.h"

KERNEL void kmeans(GLOBAL const REAL *points, GLOBAL const REAL *centres, GLOBAL int *labels, int n, int count)
{
    int i = INDEX_X;
    if (i >= n)
        return;
    REAL p0 = points[i], p1 = points[n + i], p2 = points[2 * n + i], p3 = points[3 * n + i];
    REAL best = (REAL)1e30;
    int label = 0;
    for (int c = 0; c < count; c++) {
        REAL d0 = p0 - centres[4 * c], d1 = p1 - centres[4 * c + 1];
        REAL d2 = p2 - centres[4 * c + 2], d3 = p3 - centres[4 * c + 3];
        REAL distance = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3;
        if (distance < best) {
            best = distance;
            label = c;
        }
    }
    labels[i] = label;
}

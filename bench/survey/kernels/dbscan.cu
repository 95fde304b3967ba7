// DBSCAN: neighbours counted by a thread a point among all points, labels of core points go from neighbour to
// neighbour until none changes (a flag for each round), then borders get theirs.
#include <math.h>

struct Point {
    float x, y;
    int neighbours;
    bool core;
};

__device__ float euclidean(Point a, Point b) {
    return sqrt(pow(a.x - b.x, 2) + pow(a.y - b.y, 2));
}

extern "C" __global__ void find_core(Point *points, int *label, int *next, float eps, int min_points, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int count = 0;
    for (int j = 0; j < n; j++) {
        if (j == i)
            continue;
        float dx = points[i].x - points[j].x;
        float dy = points[i].y - points[j].y;
        if (sqrt(pow(dx, 2) + pow(dy, 2)) <= eps)
            count++;
    }
    points[i].neighbours = count;
    points[i].core = count >= min_points;
    label[i] = points[i].core ? i : -1;
    next[i] = label[i];
}

extern "C" __global__ void spread_labels(const Point *points, const int *label, int *next, int *flags, int round,
                                         float eps, int n) {
    if (round > 0 && flags[round - 1] == 0)
        return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !points[i].core)
        return;
    int smallest = label[i];
    for (int j = 0; j < n; j++) {
        if (points[j].core && label[j] < smallest && euclidean(points[i], points[j]) <= eps)
            smallest = label[j];
    }
    next[i] = smallest;
    if (smallest != label[i])
        flags[round] = 1;
}

extern "C" __global__ void border_points(const Point *points, const int *label, int *cluster, float eps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int mine = label[i];
    if (!points[i].core) {
        float nearest = 1e30;
        for (int j = 0; j < n; j++) {
            if (!points[j].core)
                continue;
            float d = euclidean(points[i], points[j]);
            if (d <= eps && d < nearest) {
                nearest = d;
                mine = label[j];
            }
        }
    }
    cluster[i] = mine;
}

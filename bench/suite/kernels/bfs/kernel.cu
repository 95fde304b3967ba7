// One level of a breadth-first search: the neighbours of the nodes found last.
#include "dialect.h"

KERNEL void bfs_level(GLOBAL const int *starts, GLOBAL const int *targets, GLOBAL int *levels, int n, int level)
{
    int node = INDEX_X;
    if (node >= n || levels[node] != level)
        return;
    for (int i = starts[node]; i < starts[node + 1]; i++) {
        int target = targets[i];
        if (levels[target] < 0)
            levels[target] = level + 1;
    }
}

#include "native.h"

void run(const int *restrict starts, const int *restrict targets, int *restrict levels, int n, int depth)
{
    for (int level = 0; level < depth; level++)
        for (int node = 0; node < n; node++) {
            if (levels[node] != level)
                continue;
            for (int i = starts[node]; i < starts[node + 1]; i++)
                if (levels[targets[i]] < 0)
                    levels[targets[i]] = level + 1;
        }
}

// Sixteen nodes are looked at together, and their edges only if one of them is of this level; the stores
// need no order, as all write the same number.
#include "native.h"

void run(const int *restrict starts, const int *restrict targets, int *restrict levels, int n, int depth)
{
    for (int level = 0; level < depth; level++)
        for (int node = 0; node < n; node += 16) {
            uint found = 0;
#pragma omp simd reduction(| : found)
            for (int l = 0; l < 16; l++)
                found |= (uint)(levels[node + l] == level) << l;
            for (; found; found &= found - 1) {
                int from = node + __builtin_ctz(found);
#pragma GCC ivdep
                for (int i = starts[from]; i < starts[from + 1]; i++)
                    if (levels[targets[i]] < 0)
                        levels[targets[i]] = level + 1;
            }
        }
}

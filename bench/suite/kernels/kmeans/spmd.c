// A lane is a point; two registers of points at once.
#include "native.h"
enum { SETS = 2 };

static inline void some(
    const REAL *restrict points, const REAL *restrict centres, int *restrict labels, int first, int end, int n,
    int count)
{
    for (int i = first; i < end; i += SETS * LANES) {
        vec p[4][SETS], best[SETS];
        mask label[SETS];
        for (int h = 0; h < SETS; h++) {
            for (int d = 0; d < 4; d++)
                p[d][h] = LOAD(points + d * n + i + h * LANES);
            best[h] = (vec){0} + (REAL)1e30;
            label[h] = (mask){0};
        }
        for (int c = 0; c < count; c++)
#pragma GCC unroll 2
            for (int h = 0; h < SETS; h++) {
                vec d0 = p[0][h] - centres[4 * c], d1 = p[1][h] - centres[4 * c + 1];
                vec d2 = p[2][h] - centres[4 * c + 2], d3 = p[3][h] - centres[4 * c + 3];
                vec distance = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3;
                mask nearer = distance < best[h];
                best[h] = SELECT(nearer, distance, best[h]);
                label[h] = (nearer & c) | (~nearer & label[h]);
            }
        for (int h = 0; h < SETS; h++)
            for (int l = 0; l < LANES; l++)
                labels[i + h * LANES + l] = label[h][l];
    }
}

void run(const REAL *restrict points, const REAL *restrict centres, int *restrict labels, int n, int count)
{
    some(points, centres, labels, 0, n, n, count);
}

#include "native.h"

void run(const REAL *restrict points, const REAL *restrict centres, int *restrict labels, int n, int count)
{
    for (int i = 0; i < n; i++) {
        REAL best = (REAL)1e30;
        int label = 0;
        for (int c = 0; c < count; c++) {
            REAL distance = 0;
            for (int d = 0; d < 4; d++) {
                REAL difference = points[d * n + i] - centres[4 * c + d];
                distance += difference * difference;
            }
            if (distance < best) {
                best = distance;
                label = c;
            }
        }
        labels[i] = label;
    }
}

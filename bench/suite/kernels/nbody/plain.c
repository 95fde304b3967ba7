#include "native.h"

void run(const REAL *restrict px, const REAL *restrict py, const REAL *restrict pz, const REAL *restrict mass,
         REAL *restrict ax, REAL *restrict ay, REAL *restrict az, int n)
{
    for (int i = 0; i < n; i++) {
        REAL sx = 0, sy = 0, sz = 0;
        for (int j = 0; j < n; j++) {
            REAL dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
            REAL inverse = (REAL)1 / sqrt(dx * dx + dy * dy + dz * dz + (REAL)0.01);
            REAL pull = mass[j] * inverse * inverse * inverse;
            sx += dx * pull;
            sy += dy * pull;
            sz += dz * pull;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}

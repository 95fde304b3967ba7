// Accelerations of bodies that attract each other; 256 bodies at a time through shared memory.
#include "dialect.h"
#define TILE 256

KERNEL void nbody(GLOBAL const REAL *px, GLOBAL const REAL *py, GLOBAL const REAL *pz, GLOBAL const REAL *mass,
                  GLOBAL REAL *ax, GLOBAL REAL *ay, GLOBAL REAL *az, int n)
{
    SHARED REAL x[TILE], y[TILE], z[TILE], m[TILE];
    int i = INDEX_X, t = THREAD_X;
    REAL myx = px[i], myy = py[i], myz = pz[i], sx = 0, sy = 0, sz = 0;
    for (int start = 0; start < n; start += TILE) {
        x[t] = px[start + t];
        y[t] = py[start + t];
        z[t] = pz[start + t];
        m[t] = mass[start + t];
        BARRIER();
        for (int j = 0; j < TILE; j++) {
            REAL dx = x[j] - myx, dy = y[j] - myy, dz = z[j] - myz;
            REAL inverse = rsqrt(dx * dx + dy * dy + dz * dz + (REAL)0.01);
            REAL pull = m[j] * inverse * inverse * inverse;
            sx += dx * pull;
            sy += dy * pull;
            sz += dz * pull;
        }
        BARRIER();
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
}

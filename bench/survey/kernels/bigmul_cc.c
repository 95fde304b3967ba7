#include "native.h"

void run(const uint *restrict a, const uint *restrict b, uint *restrict c, int n) {
    for (int i = 0; i < n; i++) {
        ull x[4], y[4], z[8] = {0};
        for (int k = 0; k < 4; k++) {
            x[k] = a[2 * k * n + i] | (ull)a[(2 * k + 1) * n + i] << 32;
            y[k] = b[2 * k * n + i] | (ull)b[(2 * k + 1) * n + i] << 32;
        }
        for (int j = 0; j < 4; j++) {
            ull cy = 0;
            for (int k = 0; k < 4; k++) {
                unsigned __int128 t = (unsigned __int128)x[j] * y[k] + z[j + k] + cy;
                z[j + k] = (ull)t;
                cy = t >> 64;
            }
            z[j + 4] = cy;
        }
        for (int k = 0; k < 8; k++) {
            c[2 * k * n + i] = z[k];
            c[(2 * k + 1) * n + i] = z[k] >> 32;
        }
    }
}

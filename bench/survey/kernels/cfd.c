#include "native.h"

void run(const int *restrict nb, const float *restrict vars, const float *restrict normals, float *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        float r = vars[i], mx = vars[i + n], my = vars[i + 2 * n], e = vars[i + 3 * n];
        float f0 = 0, f1 = 0, f2 = 0, f3 = 0;
        for (int j = 0; j < 4; j++) {
            int k = nb[i + j * n];
            float nx = normals[i + 2 * j * n], ny = normals[i + (2 * j + 1) * n];
            if (k >= 0) {
                float rk = vars[k], mxk = vars[k + n], myk = vars[k + 2 * n], ek = vars[k + 3 * n];
                float un = (mx / r + mxk / rk) * nx + (my / r + myk / rk) * ny;
                f0 += un * (r + rk);
                f1 += un * (mx + mxk) + nx * (e + ek);
                f2 += un * (my + myk) + ny * (e + ek);
                f3 += un * (e + ek);
            } else {
                f1 += nx * e;
                f2 += ny * e;
            }
        }
        out[i] = f0;
        out[i + n] = f1;
        out[i + 2 * n] = f2;
        out[i + 3 * n] = f3;
    }
}

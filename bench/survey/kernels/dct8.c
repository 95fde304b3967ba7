#include "native.h"

void run(const float *restrict a, float *restrict b, const float *restrict coef, int w, int h) {
    for (int y0 = 0; y0 < h; y0 += 8)
        for (int x0 = 0; x0 < w; x0 += 8) {
            float u[8][8];
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++) {
                    float s = 0;
                    for (int k = 0; k < 8; k++)
                        s += coef[y * 8 + k] * a[(y0 + k) * w + x0 + x];
                    u[y][x] = s;
                }
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++) {
                    float s = 0;
                    for (int k = 0; k < 8; k++)
                        s += u[y][k] * coef[x * 8 + k];
                    b[(y0 + y) * w + x0 + x] = s;
                }
        }
}

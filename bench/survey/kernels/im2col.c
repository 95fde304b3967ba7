#include "native.h"

void run(const float *restrict a, float *restrict b, int c, int h, int w, int k, int pad) {
    for (int m = 0; m < c; m++)
        for (int dy = 0; dy < k; dy++)
            for (int dx = 0; dx < k; dx++)
                for (int y = 0; y < h; y++) {
                    float *q = b + (((m * k + dy) * k + dx) * h + y) * w;
                    int yy = y - pad + dy;
                    for (int x = 0; x < w; x++) {
                        int xx = x - pad + dx;
                        q[x] = yy >= 0 && xx >= 0 && yy < h && xx < w ? a[(m * h + yy) * w + xx] : 0;
                    }
                }
}

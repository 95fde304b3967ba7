#include "native.h"

void run(int *restrict o, int w, int h, double cr, double ci, int lim) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double a = 3.0 * x / w - 1.5, b = 2.0 * y / h - 1;
            int k = 0;
            while (k < lim && a * a + b * b < 4) {
                double t = a * a - b * b + cr;
                b = 2 * a * b + ci;
                a = t;
                k++;
            }
            o[y * w + x] = k;
        }
}

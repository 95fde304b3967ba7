#include "native.h"

void run(uchar *restrict root, int *restrict steps, int width, int height, double left, double top, double pixel,
         int max_steps) {
    const double root_re[3] = {1, -0.5, -0.5};
    const double root_im[3] = {0, 0.86602540378443865, -0.86602540378443865};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double re = left + x * pixel, im = top - y * pixel;
            int found = 3, k;
            for (k = 0; k < max_steps && found == 3; k++) {
                double re2 = re * re - im * im, im2 = 2 * re * im;
                double fr = re2 * re - im2 * im - 1, fi = re2 * im + im2 * re;
                double dr = 3 * re2, di = 3 * im2, d = 1 / (dr * dr + di * di);
                re -= (fr * dr + fi * di) * d;
                im -= (fi * dr - fr * di) * d;
                for (int r = 0; r < 3; r++) {
                    double a = re - root_re[r], b = im - root_im[r];
                    if (a * a + b * b < 1e-12)
                        found = r;
                }
            }
            root[y * width + x] = found;
            steps[y * width + x] = k;
        }
}

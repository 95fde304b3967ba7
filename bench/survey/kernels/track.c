#include "native.h"
#define SIDE 21
#define WINDOW 41

void run(const float *restrict frame, const float *restrict templates, const int *restrict points, int *restrict best, int w, int h, int n) {
    for (int p = 0; p < n; p++) {
        float window[WINDOW][WINDOW], part[SIDE * SIDE], mean = 0, own = 0, most = -2;
        int place = 0;
        for (int i = 0; i < WINDOW; i++)
            for (int j = 0; j < WINDOW; j++) {
                int y = points[2 * p + 1] - 20 + i, x = points[2 * p] - 20 + j;
                window[i][j] = x < 0 || y < 0 || x >= w || y >= h ? 0 : frame[y * w + x];
            }
        for (int i = 0; i < SIDE * SIDE; i++)
            mean += templates[p * SIDE * SIDE + i] / (SIDE * SIDE);
        for (int i = 0; i < SIDE * SIDE; i++) {
            part[i] = templates[p * SIDE * SIDE + i] - mean;
            own += part[i] * part[i];
        }
        for (int o = 0; o < SIDE * SIDE; o++) {
            float s = 0, squares = 0, both = 0;
            for (int y = 0; y < SIDE; y++)
#pragma omp simd reduction(+ : s, squares, both)
                for (int x = 0; x < SIDE; x++) {
                    float v = window[o / SIDE + y][o % SIDE + x];
                    s += v;
                    squares += v * v;
                    both += v * part[y * SIDE + x];
                }
            float fit = both / sqrtf((squares - s * s / (SIDE * SIDE)) * own + 1e-9f);
            if (fit > most) {
                most = fit;
                place = o;
            }
        }
        best[2 * p] = points[2 * p] + place % SIDE - 10;
        best[2 * p + 1] = points[2 * p + 1] + place / SIDE - 10;
    }
}

// Exact squared distances to the nearest set pixel: columns side by side, then lower envelopes of each row
#include "native.h"

void run(const uchar *restrict picture, int *restrict squared, int w, int h) {
    int far = w + h;
    for (int x = 0; x < w; x++)
        squared[x] = picture[x] ? 0 : far;
    for (int y = 1; y < h; y++) {
        int *restrict row = squared + (size_t)y * w;
        const int *restrict before = row - w;
        const uchar *restrict p = picture + (size_t)y * w;
        for (int x = 0; x < w; x++)
            row[x] = p[x] ? 0 : MIN(before[x] + 1, far);
    }
    for (int y = h - 2; y >= 0; y--) {
        int *restrict row = squared + (size_t)y * w;
        const int *restrict after = row + w;
        for (int x = 0; x < w; x++)
            row[x] = MIN(row[x], after[x] + 1);
    }
    int *corner = malloc(w * sizeof(int)), *height = malloc(w * sizeof(int));
    float *border = malloc(w * sizeof(float));
    for (int y = 0; y < h; y++) {
        int *row = squared + (size_t)y * w, k = 0;
        for (int x = 0; x < w; x++)
            height[x] = row[x] * row[x];
        corner[0] = 0;
        border[0] = -INFINITY;
        for (int x = 1; x < w; x++) {
            int mine = height[x] + x * x;
            float s;
            while (1) {
                int v = corner[k];
                s = (float)(mine - height[v] - v * v) / (float)(2 * (x - v));
                if (s > border[k])
                    break;
                k--;
            }
            corner[++k] = x;
            border[k] = s;
        }
        int last = k;
        k = 0;
        for (int x = 0; x < w; x++) {
            while (k < last && border[k + 1] < (float)x)
                k++;
            int v = corner[k];
            row[x] = (x - v) * (x - v) + height[v];
        }
    }
    free(corner);
    free(height);
    free(border);
}

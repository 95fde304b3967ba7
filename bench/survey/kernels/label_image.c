#include "native.h"

static inline int root(int *label, int p) {
    while (label[p] != p) {
        label[p] = label[label[p]];
        p = label[p];
    }
    return p;
}

// Two passes: provisional labels row by row, then the roots, which are always before the pixels that they label.
void run(const uchar *restrict image, int *restrict label, int *restrict roots, int width, int height) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int i = y * width + x;
            int left = x > 0 && image[i] == image[i - 1], up = y > 0 && image[i] == image[i - width];
            if (left && up) {
                int a = root(label, i - 1);
                // what is up there is united with its left neighbour already, if that one is of the kind too
                if (image[i - width - 1] != image[i]) {
                    int b = root(label, i - width);
                    label[MAX(a, b)] = MIN(a, b);
                    a = MIN(a, b);
                }
                label[i] = a;
            } else if (left)
                label[i] = label[i - 1];
            else if (up)
                label[i] = label[i - width];
            else
                label[i] = i;
        }
    int count = *roots;
    for (int i = 0; i < width * height; i++) {
        count += label[i] == i;
        label[i] = label[label[i]];
    }
    *roots = count;
}

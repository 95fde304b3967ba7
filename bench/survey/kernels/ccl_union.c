// Connected parts (8 neighbours) by union and find in one pass, then labels, areas and boxes in another.
#include "native.h"

static inline int find_root(int *labels, int i) {
    while (labels[i] != i) {
        labels[i] = labels[labels[i]];
        i = labels[i];
    }
    return i;
}

static inline int unite(int *labels, int a, int b) {
    a = find_root(labels, a);
    b = find_root(labels, b);
    return a < b ? (labels[b] = a) : (labels[a] = b);
}

void run(const uchar *restrict image, int *restrict labels, int *restrict area, int *restrict box, int w, int h) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int i = y * w + x;
            if (!image[i]) {
                labels[i] = -1;
                continue;
            }
            int up = y > 0 && image[i - w], left = x > 0 && image[i - 1];
            int corner = y > 0 && x > 0 && image[i - w - 1], other = y > 0 && x + 1 < w && image[i - w + 1];
            if (up)
                labels[i] = find_root(labels, i - w);
            else if (left) {
                labels[i] = find_root(labels, i - 1);
                if (other)
                    labels[i] = unite(labels, i - 1, i - w + 1);
            } else if (corner) {
                labels[i] = find_root(labels, i - w - 1);
                if (other)
                    labels[i] = unite(labels, i - w - 1, i - w + 1);
            } else if (other)
                labels[i] = find_root(labels, i - w + 1);
            else
                labels[i] = i;
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int i = y * w + x;
            if (labels[i] < 0)
                continue;
            int root = labels[i] = labels[labels[i]], *b = box + 4 * root;
            area[root]++;
            b[0] = MIN(b[0], x);
            b[1] = MIN(b[1], y);
            b[2] = MAX(b[2], x);
            b[3] = MAX(b[3], y);
        }
}

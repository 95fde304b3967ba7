#include "native.h"

void run(const uint *restrict k, int *restrict o, int *restrict tot, int n) {
    for (int b = 0; b < n; b += 1024) {
        int *h = tot + (b / 1024) * 256;
        memset(h, 0, 1024);
        for (int i = b; i < b + 1024; i++)
            o[i] = h[k[i] & 255]++;
    }
}

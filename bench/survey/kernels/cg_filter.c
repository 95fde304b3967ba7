#include "native.h"

void run(const int *restrict points, int *restrict found, int *restrict count, int n, int radius) {
    int c = 0;
    for (int i = 0; i < n; i++)
        if (points[2 * i] * points[2 * i] + points[2 * i + 1] * points[2 * i + 1] < radius * radius)
            found[c++] = i;
    *count += c;
}

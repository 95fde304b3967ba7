#include "native.h"

void run(int *restrict steps, int width, int height, REAL left, REAL top, REAL scale, int limit)
{
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            REAL cx = left + column * scale, cy = top + row * scale, x = 0, y = 0;
            int i = 0;
            while (i < limit && x * x + y * y <= 4) {
                REAL next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
                i++;
            }
            steps[row * width + column] = i;
        }
}

#include "native.h"

void run(const float *restrict values, float *restrict best, int rows, int columns) {
    for (int row = 0; row < rows; row++) {
        float top[8];
        for (int k = 0; k < 8; k++)
            top[k] = -1e30f;
        for (int c = 0; c < columns; c++) {
            float v = values[(long)c * rows + row];
            if (v > top[7]) {
                int k = 7;
                while (k > 0 && top[k - 1] < v) {
                    top[k] = top[k - 1];
                    k--;
                }
                top[k] = v;
            }
        }
        for (int k = 0; k < 8; k++)
            best[(long)k * rows + row] = top[k];
    }
}

#include "native.h"
void run(const int *restrict ptr, const int *restrict col, const float *restrict val, const float *restrict x, float *restrict y, int rows) {
    for (int row = 0; row < rows; row++) {
        float s[4] = {0};
        for (int k = ptr[row]; k < ptr[row + 1]; k++)
            for (int r = 0; r < 4; r++)
                for (int c = 0; c < 4; c++) s[r] += val[k * 16 + r * 4 + c] * x[col[k] * 4 + c];
        for (int r = 0; r < 4; r++) y[row * 4 + r] = s[r];
    }
}

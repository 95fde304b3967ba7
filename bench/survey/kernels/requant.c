#include "native.h"

void run(const int *restrict sums, const int *restrict bias, const float *restrict scale, int8_t *restrict out,
         int rows, int quads) {
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < 4 * quads; c++) {
            float v = rintf((sums[(long)r * 4 * quads + c] + bias[c]) * scale[c]);
            out[(long)r * 4 * quads + c] = (int)MIN(MAX(v, -128.0f), 127.0f);
        }
}

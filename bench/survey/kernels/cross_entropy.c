#include "native.h"

void run(const float *restrict logits, const int *restrict label, float *restrict loss, float *restrict grad,
         int rows, int columns) {
    for (int row = 0; row < rows; row++) {
        const float *x = logits + row * columns;
        float *g = grad + row * columns, m[16], s[16] = {0};
        for (int k = 0; k < 16; k++)
            m[k] = -1e30f;
        for (int i = 0; i < columns; i += 16)
            for (int k = 0; k < 16; k++)
                m[k] = m[k] > x[i + k] ? m[k] : x[i + k];
        float most = m[0], sum = 0;
        for (int k = 1; k < 16; k++)
            most = most > m[k] ? most : m[k];
        for (int i = 0; i < columns; i += 16)
            for (int k = 0; k < 16; k++) {
                float e = expf(x[i + k] - most);
                g[i + k] = e;
                s[k] += e;
            }
        for (int k = 0; k < 16; k++)
            sum += s[k];
        for (int i = 0; i < columns; i++)
            g[i] /= sum;
        g[label[row]] -= 1;
        loss[row] = logf(sum) + most - x[label[row]];
    }
}

#include "native.h"

void run(const float *restrict dy, const float *restrict x, const float *restrict weight,
         const float *restrict mean, const float *restrict rstd, float *restrict dx, int rows, int dim) {
    for (int row = 0; row < rows; row++) {
        const float *g = dy + row * dim, *v = x + row * dim;
        float m = mean[row], s = rstd[row], sums[16] = {0}, products[16] = {0}, sum = 0, product = 0;
        for (int i = 0; i < dim; i += 16)
            for (int k = 0; k < 16; k++) {
                float norm = (v[i + k] - m) * s, d = weight[i + k] * g[i + k];
                sums[k] += d;
                products[k] += d * norm;
            }
        for (int k = 0; k < 16; k++) {
            sum += sums[k];
            product += products[k];
        }
        sum /= dim;
        product /= dim;
        for (int i = 0; i < dim; i++) {
            float norm = (v[i] - m) * s, d = weight[i] * g[i];
            dx[row * dim + i] += (d - sum - norm * product) * s;
        }
    }
}

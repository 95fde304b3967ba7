// Margin losses of rows: one right class by powers 1 and 2 with the gradient of the latter, and several right classes.
#include "native.h"

void run(const float *restrict input, const int64_t *restrict target, const float *restrict weights,
         const float *restrict grad_output, const int64_t *restrict targets, float *restrict out1,
         float *restrict out2, float *restrict grad2, float *restrict is_target, float *restrict out_multi,
         float *restrict grad_multi, int rows, int dim, float margin) {
    float g = 1.0f / dim;
    for (int k = 0; k < rows; k++) {
        const float *x = input + (long)k * dim;
        float *d2 = grad2 + (long)k * dim, *dm = grad_multi + (long)k * dim, *is = is_target + (long)k * dim;
        int t = target[k];
        float xt = x[t], w = weights[t], s1 = 0, s2 = 0, pull = 0, scale = 2 * g * w, go = grad_output[k];
#pragma omp simd reduction(+ : s1, s2, pull)
        for (int i = 0; i < dim; i++) {
            float z = margin - xt + x[i];
            z = (z > 0) & (i != t) ? z : 0;
            s1 += z;
            s2 += z * z;
            pull -= scale * z;
            d2[i] = scale * z * go;
        }
        d2[t] = pull * go;
        out1[k] = s1 * w / dim;
        out2[k] = s2 / (rows * dim);

        const int64_t *list = targets + (long)k * dim;
        memset(is, 0, dim * sizeof(float));
        memset(dm, 0, dim * sizeof(float));
        for (int j = 0; j < dim && list[j] >= 0; j++)
            is[list[j]] = 1;
        float sum = 0;
        for (int j = 0; j < dim && list[j] >= 0; j++) {
            float right = x[list[j]], violations = 0;
#pragma omp simd reduction(+ : sum, violations)
            for (int i = 0; i < dim; i++) {
                float z = 1 - right + x[i];
                int counts = (z > 0) & (is[i] == 0);
                sum += counts ? z : 0;
                violations -= counts ? g : 0;
                dm[i] += counts ? g : 0;
            }
            dm[list[j]] += violations;
        }
        out_multi[k] = sum / dim;
    }
}

// Sixteen spherical harmonics of directions, their derivatives, and the gradient of directions.
#include "native.h"

void run(const float *restrict inputs, const float *restrict grad, float *restrict outputs, float *restrict dy_dx,
         float *restrict grad_inputs, int n) {
    for (int i = 0; i < n; i++) {
        float x = inputs[3 * i], y = inputs[3 * i + 1], z = inputs[3 * i + 2];
        float xy = x * y, xz = x * z, yz = y * z, x2 = x * x, y2 = y * y, z2 = z * z;
        const float p = 0.48860251f, q = 1.09254843f, r = 2.89061144f, u = 1.77013077f;
        float ring = 0.457045799f - 2.285229f * z2;
        float value[16] = {0.282094792f, -p * y, p * z, -p * x, q * xy, -q * yz, 0.946174696f * z2 - 0.315391565f,
                           -q * xz, q / 2 * (x2 - y2), 0.59004359f * y * (y2 - 3 * x2), r * xy * z, y * ring,
                           0.373176333f * z * (5 * z2 - 3), x * ring, r / 2 * z * (x2 - y2),
                           0.59004359f * x * (3 * y2 - x2)};
        float d[48] = {0, 0, 0, -p, q * y, 0, 0, -q * z, q * x, -2 * u * xy, r * yz, 0, 0, ring, r * xz, u * (y2 - x2),
                       0, -p, 0, 0, q * x, -q * z, 0, 0, -q * y, u * (y2 - x2), r * xz, ring, 0, 0, -r * yz, 2 * u * xy,
                       0, 0, p, 0, 0, -q * y, 1.89234939f * z, -q * x, 0, 0, r * xy, -4.57045799f * yz,
                       5.59764499f * z2 - 1.119529f, -4.57045799f * xz, r / 2 * (x2 - y2), 0};
        memcpy(outputs + 16L * i, value, sizeof value);
        memcpy(dy_dx + 48L * i, d, sizeof d);
        for (int k = 0; k < 3; k++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int c = 0; c < 16; c++)
                sum += grad[16L * i + c] * d[16 * k + c];
            grad_inputs[3 * i + k] += sum;
        }
    }
}

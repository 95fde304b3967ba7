// The matrix Q of a reconstruction from samples in k-space.
#include "native.h"

__attribute__((simd("notinbranch"))) extern float cosf(float);

enum { W = 64 };  // voxels side by side

void run(const float *restrict phi_r, const float *restrict phi_i, const float *restrict kx,
         const float *restrict ky, const float *restrict kz, float *restrict packed, const float *restrict x,
         const float *restrict y, const float *restrict z, float *restrict qr, float *restrict qi, int num_k,
         int num_x) {
    for (int k = 0; k < num_k; k++) {
        float values[4] = {kx[k], ky[k], kz[k], phi_r[k] * phi_r[k] + phi_i[k] * phi_i[k]};
        memcpy(packed + 4 * k, values, sizeof values);
    }
    for (int first = 0; first < num_x; first += W) {
        int lanes = MIN(W, num_x - first);
        float re[W] = {0}, im[W] = {0}, px[W] = {0}, py[W] = {0}, pz[W] = {0};
        memcpy(px, x + first, lanes * sizeof(float));
        memcpy(py, y + first, lanes * sizeof(float));
        memcpy(pz, z + first, lanes * sizeof(float));
        for (int k = 0; k < num_k; k++) {
            const float *s = packed + 4 * k;
#pragma omp simd
            for (int i = 0; i < W; i++) {
                float angle = 6.28318530718f * (s[0] * px[i] + s[1] * py[i] + s[2] * pz[i]);
                re[i] += s[3] * cosf(angle);
                im[i] += s[3] * cosf(angle - 1.5707963f);  // gcc has no vectors for sincosf
            }
        }
        memcpy(qr + first, re, lanes * sizeof(float));
        memcpy(qi + first, im, lanes * sizeof(float));
    }
}

#include "native.h"

void run(const float *restrict s, const float *restrict x, float *restrict o, float vdt, float pu, float pd, int n) {
    for (int m = 0; m < n; m++) {
        float v[513];
        for (int i = 0; i <= 512; i++) {
            float p = s[m] * expf(vdt * (2 * i - 512)) - x[m];
            v[i] = p > 0 ? p : 0;
        }
        for (int i = 512; i > 0; i--)
            for (int j = 0; j < i; j++)
                v[j] = pu * v[j + 1] + pd * v[j];
        o[m] = v[0];
    }
}

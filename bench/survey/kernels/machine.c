#include "native.h"

enum { W = 64 };  // rows side by side: an instruction is decoded once for them

void run(const uchar *restrict program, const float *restrict data, float *restrict out, int length, int n) {
    for (int s = 0; s < n; s += W) {
        float r[8][W] = {{0}};
        int m = MIN(W, n - s);
        for (int k = 0; k < 8; k++)
            memcpy(r[k], data + (long)k * n + s, m * sizeof(float));
        for (int pc = 0; pc < length; pc++) {
            const uchar *op = program + 4 * pc;
            float *a = r[op[1]], *b = r[op[2]], *v = r[op[3]];
            switch (op[0]) {
            case 0: for (int i = 0; i < W; i++) v[i] = a[i] + b[i]; break;
            case 1: for (int i = 0; i < W; i++) v[i] = a[i] - b[i]; break;
            case 2: for (int i = 0; i < W; i++) v[i] = a[i] * b[i]; break;
            case 3: for (int i = 0; i < W; i++) v[i] = MIN(a[i], b[i]); break;
            case 4: for (int i = 0; i < W; i++) v[i] = MAX(a[i], b[i]); break;
            case 5: for (int i = 0; i < W; i++) v[i] = fabsf(a[i]); break;
            case 6: for (int i = 0; i < W; i++) v[i] = a[i] > 0 ? b[i] : a[i]; break;
            default: for (int i = 0; i < W; i++) v[i] = a[i] * 0.5f + b[i]; break;
            }
        }
        memcpy(out + s, r[0], m * sizeof(float));
    }
}

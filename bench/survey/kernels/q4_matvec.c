#include "native.h"

typedef struct {
    _Float16 d;
    uchar q[16];
} Q4;
typedef struct {
    _Float16 d;
    int8_t q[32];
} Q8;

void run(const Q4 *restrict w, const Q8 *restrict x, float *restrict y, int rows, int blocks) {
    for (int r = 0; r < rows; r++) {
        float sum = 0;
        for (int b = 0; b < blocks; b++) {
            const Q4 *p = w + (long)r * blocks + b;
            const Q8 *q = x + b;
            int s = 0;
            for (int i = 0; i < 16; i++)
                s += ((p->q[i] & 15) - 8) * q->q[i] + ((p->q[i] >> 4) - 8) * q->q[i + 16];
            sum += (float)p->d * (float)q->d * s;
        }
        y[r] = sum;
    }
}

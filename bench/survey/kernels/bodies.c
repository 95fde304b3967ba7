#include "native.h"

void run(float *restrict bodies, int n, float dt) {
    for (int i = 0; i < n; i++) {
        float *b = bodies + 16 * i;
        b[3] += 0.0f * dt;
        b[4] += -9.8f * dt;
        b[5] += 0.5f * dt;
        for (int k = 0; k < 3; k++)
            b[k] += b[3 + k] * dt;
        if (b[1] < 0) {
            b[1] = -b[1];
            b[4] *= -0.8f;
        }
        float qx = b[12], qy = b[13], qz = b[14], qw = b[15];
        float h = 0.5f * dt, x = qx + h * (b[6] * qw + b[7] * qz - b[8] * qy), y = qy + h * (b[7] * qw + b[8] * qx - b[6] * qz),
              z = qz + h * (b[8] * qw + b[6] * qy - b[7] * qx), w = qw - h * (b[6] * qx + b[7] * qy + b[8] * qz);
        float l = 1 / sqrtf(x * x + y * y + z * z + w * w);
        b[12] = x * l, b[13] = y * l, b[14] = z * l, b[15] = w * l;
    }
}

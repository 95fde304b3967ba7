#include "native.h"

typedef struct {
    float x, y, z, vx, vy, vz, m, pad;
} P;

void run(P *restrict p, int n, float dt, float g) {
    for (int i = 0; i < n; i++) {
        P *q = p + i;
        q->vy -= g * dt;
        q->x += q->vx * dt;
        q->y += q->vy * dt;
        q->z += q->vz * dt;
        if (q->y < 0) {
            q->y = -q->y;
            q->vy = -0.9f * q->vy;
        }
    }
}

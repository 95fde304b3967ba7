#include "native.h"

typedef struct {
    float x, y, z, w;
} float4;

typedef struct {
    int a, b;
    float rest, compliance;
} Constraint;

void run(float4 *restrict place, float4 *restrict before, float4 *restrict speed,
         const Constraint *restrict constraints, const float4 *restrict ball, int n, int count, int steps,
         int iterations, float h, float inv_h, float inv_h2, float floor, float friction) {
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < n; i++) {
            float4 p = place[i], v = speed[i];
            before[i] = p;
            float moves = p.w == 0 ? 0 : h;
            place[i].x = p.x + moves * v.x;
            place[i].y = p.y + moves * (v.y - 9.81f * h);
            place[i].z = p.z + moves * v.z;
        }
        for (int round = 0; round < iterations; round++)
            for (int k = 0; k < count; k++) {
                Constraint c = constraints[k];
                float4 *a = place + c.a, *b = place + c.b;
                float w = a->w + b->w;
                float dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
                float length = sqrtf(dx * dx + dy * dy + dz * dz);
                if (w == 0 || length < 1e-6f)
                    continue;
                float s = (length - c.rest) / (length * (w + c.compliance * inv_h2)), sa = s * a->w, sb = s * b->w;
                a->x -= sa * dx;
                a->y -= sa * dy;
                a->z -= sa * dz;
                b->x += sb * dx;
                b->y += sb * dy;
                b->z += sb * dz;
            }
        for (int i = 0; i < n; i++) {
            float4 p = place[i], old = before[i];
            if (p.w != 0) {
                float dx = p.x - ball->x, dy = p.y - ball->y, dz = p.z - ball->z;
                float r2 = dx * dx + dy * dy + dz * dz;
                int touched = 0;
                if (r2 < ball->w * ball->w) {
                    float s = ball->w / sqrtf(r2) - 1;
                    p.x += s * dx;
                    p.y += s * dy;
                    p.z += s * dz;
                    touched = 1;
                }
                if (p.y < floor) {
                    p.y = floor;
                    touched = 1;
                }
                if (touched) {
                    p.x -= friction * (p.x - old.x);
                    p.y -= friction * (p.y - old.y);
                    p.z -= friction * (p.z - old.z);
                }
                place[i] = p;
            }
            speed[i].x = inv_h * (p.x - old.x);
            speed[i].y = inv_h * (p.y - old.y);
            speed[i].z = inv_h * (p.z - old.z);
            speed[i].w = 0;
        }
    }
}

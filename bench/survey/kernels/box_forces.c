#include "native.h"
#define COUNT 100

typedef struct {
    float v, x, y, z;
} Particle;
typedef struct {
    int x, y, z, number, first, neighbours, near[26];
} Box;

void run(const Box *restrict boxes, const Particle *restrict all, const float *restrict charges, Particle *restrict force, float alpha, int n) {
    for (const Box *box = boxes; box < boxes + n; box++)
        for (int i = box->first; i < box->first + COUNT; i++) {
            float v = 0, x = 0, y = 0, z = 0;
            for (int k = 0; k <= box->neighbours; k++) {
                int first = k ? boxes[box->near[k - 1]].first : box->first;
                Particle a = all[i];
#pragma omp simd reduction(+ : v, x, y, z)
                for (int j = first; j < first + COUNT; j++) {
                    Particle b = all[j];
                    float r2 = a.v + b.v - (a.x * b.x + a.y * b.y + a.z * b.z), e = expf(-alpha * r2), f = 2 * e;
                    v += charges[j] * e;
                    x += charges[j] * f * (a.x - b.x);
                    y += charges[j] * f * (a.y - b.y);
                    z += charges[j] * f * (a.z - b.z);
                }
            }
            force[i].v += v;
            force[i].x += x;
            force[i].y += y;
            force[i].z += z;
        }
}

// Barnes-Hut with the eight children of a cell side by side: a vector for each cell that is opened.
#include "native.h"

typedef struct {
    float x, y, z, w;
} float4;
typedef struct {
    float x[8], y[8], z[8], m[8], open2[8];
    int child[8];
} Cell;

void run(float4 *restrict pos, float *restrict vel, const int *restrict child, const float *restrict open2,
         float *restrict acc, int n, int cells, float eps2, float dt) {
    // cells are in the order of their levels: the last are the deepest
    Cell *tree = aligned_alloc(64, (sizeof(Cell) * (long)cells + 63) / 64 * 64);
    for (int cell = cells - 1; cell >= 0; cell--) {
        Cell *to = tree + cell;
        float mass = 0, x = 0, y = 0, z = 0;
        for (int k = 0; k < 8; k++) {
            int c = child[cell * 8 + k];
            float4 p = c < 0 ? (float4){1e15f, 0, 0, 0} : pos[c];
            to->x[k] = p.x, to->y[k] = p.y, to->z[k] = p.z, to->m[k] = p.w;
            to->open2[k] = c < n ? -1 : open2[c - n];
            to->child[k] = c - n;
            mass += p.w, x += p.w * p.x, y += p.w * p.y, z += p.w * p.z;
        }
        float inv = 1 / mass;
        pos[n + cell] = (float4){x * inv, y * inv, z * inv, mass};
    }
    int stack[128];
    for (int i = 0; i < n; i++) {
        float4 me = pos[i];
        float ax[8] = {0}, ay[8] = {0}, az[8] = {0};
        int top = 1;
        stack[0] = 0;
        while (top > 0) {
            const Cell *c = tree + stack[--top];
            int opened[8], any = 0;
#pragma omp simd reduction(| : any)
            for (int k = 0; k < 8; k++) {
                float dx = c->x[k] - me.x, dy = c->y[k] - me.y, dz = c->z[k] - me.z;
                float r2 = dx * dx + dy * dy + dz * dz + eps2, inv = 1 / sqrtf(r2);
                int open = !(r2 > c->open2[k]);
                float s = open ? 0 : c->m[k] * inv * inv * inv;
                ax[k] += s * dx, ay[k] += s * dy, az[k] += s * dz;
                opened[k] = open;
                any |= open;
            }
            if (any)
                for (int k = 0; k < 8; k++) {
                    stack[top] = c->child[k];
                    top += opened[k];
                }
        }
        float x = 0, y = 0, z = 0;
        for (int k = 0; k < 8; k++)
            x += ax[k], y += ay[k], z += az[k];
        acc[3 * i] = x, acc[3 * i + 1] = y, acc[3 * i + 2] = z;
    }
    free(tree);
    for (int i = 0; i < n; i++) {
        float *v = vel + 3 * i, *a = acc + 3 * i;
        v[0] += dt * a[0], v[1] += dt * a[1], v[2] += dt * a[2];
        pos[i].x += dt * v[0], pos[i].y += dt * v[1], pos[i].z += dt * v[2];
    }
}

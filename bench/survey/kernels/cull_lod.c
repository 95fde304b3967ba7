#include "native.h"
enum { LODS = 4 };

typedef struct {
    float centre[3];
    uint flags;
    float half_size[3], radius;
} Bounds;

static inline int outside(const float *plane, const Bounds *b) {
    float d = plane[0] * b->centre[0] + plane[1] * b->centre[1] + plane[2] * b->centre[2] + plane[3];
    if (d > b->radius)
        return 0;
    if (d < -b->radius)
        return 1;
    float r = fabsf(plane[0]) * b->half_size[0] + fabsf(plane[1]) * b->half_size[1] +
              fabsf(plane[2]) * b->half_size[2];
    return d < -r;
}

static inline int hidden(const float *planes, const Bounds *b) {
    for (int p = 0; p < 6; p++)
        if (outside(planes + 4 * p, b))
            return 1;
    return 0;
}

void run(const Bounds *restrict boxes, const float *restrict planes, uint *restrict lists, uint *restrict counts,
         const int *restrict meshes, uint *restrict draws, const float *restrict transforms, float *restrict out,
         int n, float eye_x, float eye_y, float eye_z, float scale) {
    uint count[LODS] = {0}, before = 0;
    for (int i = 0; i < n; i++) {
        const Bounds *b = boxes + i;
        if (!(b->flags & 1) || hidden(planes, b))
            continue;
        float dx = b->centre[0] - eye_x, dy = b->centre[1] - eye_y, dz = b->centre[2] - eye_z;
        float size = b->radius * b->radius * scale / (dx * dx + dy * dy + dz * dz + 1e-6f);
        if (size < 1e-5f && !(b->flags & 2))
            continue;
        int lod = size > 1e-2f ? 0 : size > 1e-3f ? 1 : size > 1e-4f ? 2 : 3;
        lists[(size_t)lod * n + count[lod]++] = i;
    }
    for (int lod = 0; lod < LODS; lod++) {
        uint draw[5] = {meshes[3 * lod], count[lod], meshes[3 * lod + 1], meshes[3 * lod + 2], before};
        memcpy(draws + 5 * lod, draw, sizeof draw);
        for (uint k = 0; k < count[lod]; k++)
            memcpy(out + 12 * (size_t)(before + k), transforms + 12 * (size_t)lists[(size_t)lod * n + k], 48);
        before += count[lod];
    }
    memcpy(counts, count, sizeof count);
}

#include "native.h"

typedef struct {
    int kind;
    float x, y, z, r;
} Shape;

static inline float distance(const Shape *s, float x, float y, float z) {
    if (s->kind == 2)
        return y - s->y;
    float dx = x - s->x, dy = y - s->y, dz = z - s->z;
    if (s->kind == 0)
        return sqrtf(dx * dx + dy * dy + dz * dz) - s->r;
    float qx = fabsf(dx) - s->r, qy = fabsf(dy) - s->r, qz = fabsf(dz) - s->r;
    float ox = MAX(qx, 0), oy = MAX(qy, 0), oz = MAX(qz, 0), most = MAX(qx, MAX(qy, qz));
    return sqrtf(ox * ox + oy * oy + oz * oz) + MIN(most, 0);
}

void run(const int *restrict kinds, const float *restrict parameters, float *restrict image, int shapes, int width,
         int height, int max_steps) {
    static const float shade[] = {1, 0.7f, 0.3f};
    Shape scene[6];
    for (int s = 0; s < shapes; s++) {
        const float *p = parameters + 4 * s;
        scene[s] = (Shape){kinds[s], p[0], p[1], p[2], p[3]};
    }
    for (int py = 0; py < height; py++)
        for (int px = 0; px < width; px++) {
            float dx = (px + 0.5f) / width - 0.5f, dy = 0.4f - (py + 0.5f) / height, dz = 1;
            float inv = 1 / sqrtf(dx * dx + dy * dy + dz * dz), t = 0, colour = 0;
            dx *= inv, dy *= inv, dz *= inv;
            for (int step = 0; step < max_steps && t < 20; step++) {
                float nearest = 1e30f;
                int hit = 0;
                for (int s = 0; s < shapes; s++) {
                    float d = distance(scene + s, t * dx, t * dy, t * dz);
                    if (d < nearest) {
                        nearest = d;
                        hit = scene[s].kind;
                    }
                }
                if (nearest < 1e-3f) {
                    colour = shade[hit] / (1 + 0.1f * t);
                    break;
                }
                t += nearest;
            }
            image[py * width + px] = colour;
        }
}

// Boxes, areas and depths of the objects of a labelled image.
#include "native.h"

typedef struct {
    int left, right, top, bottom;
    uint area;
    float nearest, farthest;
    uint x, y;
} Object;

void run(const unsigned short *restrict labels, const float *restrict depth, float (*restrict reports)[6], float sx,
         float sy, float ox, float oy, int width, int height, int pitch, int objects) {
    Object *all = malloc(objects * sizeof *all);
    for (int i = 0; i < objects; i++)
        all[i] = (Object){width, -1, height, -1, 0, INFINITY, -INFINITY, 0, 0};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int label = labels[y * pitch + x];
            if (label == 0)
                continue;
            Object *o = all + label - 1;
            float z = depth[y * pitch + x];
            o->left = MIN(o->left, x);
            o->right = MAX(o->right, x);
            o->top = MIN(o->top, y);
            o->bottom = y;
            o->area++;
            o->nearest = MIN(o->nearest, z);
            o->farthest = MAX(o->farthest, z);
            o->x += x;
            o->y += y;
        }
    for (int i = 0; i < objects; i++) {
        Object o = all[i];
        float *r = reports[i];
        memset(r, 0, 6 * sizeof *r);
        if (o.area) {
            r[0] = ox + sx * ((float)o.x / o.area);
            r[1] = oy + sy * ((float)o.y / o.area);
            r[2] = sx * (o.right - o.left + 1);
            r[3] = sy * (o.bottom - o.top + 1);
            r[4] = o.nearest;
            r[5] = o.farthest;
        }
    }
    free(all);
}

#include "native.h"

typedef struct {
    float x, y;
} float2;

void run(const float2 *restrict p, const int *restrict start, float *restrict density, int n, int cells,
         float h2) {
    for (int i = 0; i < n; i++) {
        float2 me = p[i];
        int cx = (int)(me.x * cells), cy = (int)(me.y * cells);
        float sum = 0;
        for (int y = MAX(cy - 1, 0); y <= MIN(cy + 1, cells - 1); y++)
            for (int x = MAX(cx - 1, 0); x <= MIN(cx + 1, cells - 1); x++) {
                int cell = y * cells + x;
                for (int j = start[cell]; j < start[cell + 1]; j++) {
                    float dx = p[j].x - me.x, dy = p[j].y - me.y, r2 = dx * dx + dy * dy;
                    if (r2 < h2) {
                        float w = h2 - r2;
                        sum += w * w * w;
                    }
                }
            }
        density[i] = sum;
    }
}

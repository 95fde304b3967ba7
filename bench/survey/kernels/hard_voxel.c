// Voxels of points with limits; each point looks for its cell among those before it.
#include "native.h"

void run(const float *restrict points, int *restrict coors, int *restrict to_voxel, int *restrict to_point,
         int *restrict per_voxel, int *restrict coor_to_voxel, int *restrict voxel_num, float *restrict voxels,
         int *restrict voxel_coors, int n, int features, int max_points, int max_voxels, float vx, float vy, float vz,
         float mx, float my, float mz, int gx, int gy, int gz) {
    int *cell = malloc((n + 64) * sizeof(int));
    for (int i = 0; i < n; i++) {
        const float *p = points + (long)i * features;
        int x = floorf((p[0] - mx) / vx), y = floorf((p[1] - my) / vy), z = floorf((p[2] - mz) / vz);
        int in = x >= 0 && x < gx && y >= 0 && y < gy && z >= 0 && z < gz;
        cell[i] = in ? (z * gy + y) * gx + x : -1;
        coors[3 * i] = in ? z : -1;
        if (in) {
            coors[3 * i + 1] = y;
            coors[3 * i + 2] = x;
        }
    }
    for (int i = 0; i < n; i++) {
        int c = cell[i], num = 0;
        if (c < 0)
            continue;
        for (int j = 0; j < i && num < max_points; j += 64) {
            int hits = 0, end = MIN(j + 64, i);
            for (int k = j; k < end; k++)
                hits += cell[k] == c;
            if (hits && num == 0)
                for (int k = j; k < end; k++)
                    if (cell[k] == c) {
                        to_point[i] = k;
                        break;
                    }
            num += hits;
        }
        if (num == 0)
            to_point[i] = i;
        if (num < max_points)
            to_voxel[i] = num;
    }
    int count = 0;
    for (int i = 0; i < n; i++) {
        int num = to_voxel[i], v = -1;
        if (num == 0 && count < max_voxels) {
            v = count++;
            per_voxel[v] = 1;
            memcpy(voxel_coors + 3 * v, coors + 3 * i, 3 * sizeof(int));
        } else if (num > 0 && (v = coor_to_voxel[to_point[i]]) >= 0)
            per_voxel[v]++;
        coor_to_voxel[i] = v;
        if (v >= 0)
            memcpy(voxels + ((long)v * max_points + num) * features, points + (long)i * features,
                   features * sizeof(float));
    }
    *voxel_num = count;
    free(cell);
}

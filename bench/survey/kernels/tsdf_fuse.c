#include "native.h"

typedef struct {
    float r[3][4];
} Mat34;

// Rows of voxels of a slice: pixels of all in vectors, their depths, then distances of all in vectors.
void run(const ushort *restrict depth, short *restrict volume, const Mat34 *restrict poses, int w, int h, int n,
         float voxel, float focal, float truncation, int most, int frames) {
    float cx = 0.5f * w, cy = 0.5f * h, *restrict far = malloc(3L * n * sizeof(float));
    float *restrict scale = far + n;
    int *restrict pixel = (int *)(far + 2 * n);
    for (int f = 0; f < frames; f++, depth += w * h) {
        Mat34 m = poses[f];
        float dx = m.r[0][2] * voxel, dy = m.r[1][2] * voxel, dz = m.r[2][2] * voxel;
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++) {
                uint *restrict cells = (uint *)volume + ((long)z * n + y) * n;
                float vy = (y + 0.5f) * voxel, vz = 0.5f * voxel;
#pragma omp simd
                for (int x = 0; x < n; x++) {
                    float vx = (x + 0.5f) * voxel;
                    float px = m.r[0][0] * vx + m.r[0][1] * vy + m.r[0][2] * vz + m.r[0][3] + z * dx;
                    float py = m.r[1][0] * vx + m.r[1][1] * vy + m.r[1][2] * vz + m.r[1][3] + z * dy;
                    float pz = m.r[2][0] * vx + m.r[2][1] * vy + m.r[2][2] * vz + m.r[2][3] + z * dz;
                    int u = (int)rintf(focal * px / pz + cx), v = (int)rintf(focal * py / pz + cy);
                    float lx = (u - cx) / focal, ly = (v - cy) / focal;
                    scale[x] = 1 / sqrtf(lx * lx + ly * ly + 1);
                    far[x] = sqrtf(px * px + py * py + pz * pz);
                    int in = (pz > 0.1f) & (u >= 0) & (v >= 0) & (u < w) & (v < h);
                    pixel[x] = in ? v * w + u : -1;
                }
                for (int x = 0; x < n; x++)
                    pixel[x] = pixel[x] < 0 ? 0 : depth[pixel[x]];
#pragma omp simd
                for (int x = 0; x < n; x++) {
                    float sdf = 0.001f * pixel[x] - scale[x] * far[x];
                    float ratio = sdf / truncation, tsdf = ratio < 1 ? ratio : 1;
                    int value = (short)cells[x], weight = cells[x] >> 16;
                    int fused = (value * (1.0f / 32767) * weight + tsdf) / (weight + 1) * 32767;
                    fused = MIN(MAX(fused, -32767), 32767);
                    uint packed = (fused & 0xffff) | (uint)MIN(weight + 1, most) << 16;
                    int keep = (pixel[x] == 0) | (sdf < -truncation);
                    cells[x] = keep ? cells[x] : packed;
                }
            }
    }
    free(far);
}

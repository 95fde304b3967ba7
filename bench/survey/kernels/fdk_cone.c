#include "native.h"

void run(float *restrict projections, float *restrict filtered, const float *restrict views, float *restrict volume,
         int nx, int ny, int nz, int nu, int nv, int count, float voxel, float source_axis, float source_detector,
         float pitch, float scale) {
    float *ramp = malloc((2 * nu + 1) * sizeof(float)), *row = malloc(nu * sizeof(float));
    const float pi = 3.14159265f;
    for (int d = -nu; d <= nu; d++)
        ramp[d + nu] = d == 0 ? 0.25f : d & 1 ? -1 / (pi * pi * (float)(d * d)) : 0;
    for (int r = 0; r < nv * count; r++) {
        float b = (r % nv - 0.5f * (nv - 1)) * pitch, *p = projections + (size_t)r * nu;
#pragma omp simd
        for (int u = 0; u < nu; u++) {
            float a = (u - 0.5f * (nu - 1)) * pitch;
            p[u] *= source_detector / sqrtf(source_detector * source_detector + a * a + b * b);
            row[u] = 0.25f * p[u];
        }
        for (int k = 0; k < nu; k++) {
            // odd distances only
            const float *f = ramp + nu - k;
            float value = p[k];
#pragma omp simd
            for (int u = (k & 1) ^ 1; u < nu; u += 2)
                row[u] += value * f[u];
        }
#pragma omp simd
        for (int u = 0; u < nu; u++)
            filtered[(size_t)r * nu + u] = row[u] / pitch;
    }
    free(ramp);
    free(row);
    for (int k = 0; k < count; k++) {
        float c = views[2 * k], s = views[2 * k + 1];
        const float *restrict image = filtered + (size_t)k * nv * nu;
        for (int y = 0; y < ny; y++) {
            float py = (y - 0.5f * (ny - 1)) * voxel, magnify[nx], weight[nx], fu[nx];
            int iu[nx];
#pragma omp simd
            for (int x = 0; x < nx; x++) {
                float px = (x - 0.5f * (nx - 1)) * voxel, along = px * c + py * s, across = py * c - px * s;
                float inv = 1 / (source_axis - along);
                magnify[x] = source_detector * inv / pitch;
                float u = across * magnify[x] + 0.5f * (nu - 1), down = floorf(u);
                int i = down, inside = (i >= 0) & (i < nu - 1);
                weight[x] = inside ? scale * source_axis * inv * source_axis * inv : 0;
                fu[x] = u - down;
                iu[x] = inside ? i : 0;
            }
            for (int z = 0; z < nz; z++) {
                float pz = (z - 0.5f * (nz - 1)) * voxel, *restrict to = volume + ((size_t)z * ny + y) * nx;
#pragma omp simd
                for (int x = 0; x < nx; x++) {
                    float v = pz * magnify[x] + 0.5f * (nv - 1), down = floorf(v);
                    int iv = down, inside = (iv >= 0) & (iv < nv - 1), at = (inside ? iv : 0) * nu + iu[x];
                    float low = image[at] + fu[x] * (image[at + 1] - image[at]);
                    float high = image[at + nu] + fu[x] * (image[at + nu + 1] - image[at + nu]);
                    to[x] += inside ? weight[x] * (low + (v - down) * (high - low)) : 0;
                }
            }
        }
    }
}

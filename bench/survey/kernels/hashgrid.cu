// Encoding of points by grids of several resolutions, whose features lie in hash tables (as for radiance fields):
// forwards with features in half precision, and the gradient of the tables by atomics.
#include <cuda_fp16.h>
#include <stdint.h>

#define CORNERS 8

struct Level {
    uint32_t offset;  // of its first entry
    uint32_t size;    // entries
    uint32_t resolution;
    float scale;
};

__device__ __forceinline__ uint32_t entry_of(const Level &level, uint32_t x, uint32_t y, uint32_t z) {
    uint64_t stride = (uint64_t)level.resolution * level.resolution * level.resolution;
    uint32_t index;
    if (stride <= level.size)
        index = x + level.resolution * (y + level.resolution * z);
    else
        index = x ^ (y * 2654435761u) ^ (z * 805459861u);
    return level.offset + index % level.size;
}

struct Cell {
    uint32_t corner[3];
    float fraction[3];
};

__device__ Cell locate(const float *__restrict__ points, int i, float scale) {
    Cell cell;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        float p = fmaf(scale, points[3 * (size_t)i + d], 0.5f);
        float base = floorf(p);
        cell.corner[d] = (uint32_t)(int)base;
        cell.fraction[d] = p - base;
    }
    return cell;
}

__device__ float corner_of(const Cell &cell, int k, uint32_t at[3]) {
    float weight = 1.0f;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        if (k >> d & 1) {
            weight *= cell.fraction[d];
            at[d] = cell.corner[d] + 1;
        } else {
            weight *= 1.0f - cell.fraction[d];
            at[d] = cell.corner[d];
        }
    }
    return weight;
}

extern "C" __global__ void grid_encode(const float *__restrict__ points, const __half2 *__restrict__ table,
                                       const Level *__restrict__ levels, float *__restrict__ encoded, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int l = blockIdx.y;
    const Level level = levels[l];
    const Cell cell = locate(points, i, level.scale);
    float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int k = 0; k < CORNERS; k++) {
        uint32_t at[3];
        float weight = corner_of(cell, k, at);
        float2 f = __half22float2(table[entry_of(level, at[0], at[1], at[2])]);
        sum.x += weight * f.x;
        sum.y += weight * f.y;
    }
    encoded[(size_t)(2 * l) * n + i] = sum.x;
    encoded[(size_t)(2 * l + 1) * n + i] = sum.y;
}

extern "C" __global__ void grid_backward(const float *__restrict__ points, const float *__restrict__ d_encoded,
                                         const Level *__restrict__ levels, float2 *d_table, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int l = blockIdx.y;
    const Level level = levels[l];
    const Cell cell = locate(points, i, level.scale);
    const float gx = d_encoded[(size_t)(2 * l) * n + i], gy = d_encoded[(size_t)(2 * l + 1) * n + i];
    if (gx == 0.0f && gy == 0.0f)
        return;
#pragma unroll
    for (int k = 0; k < CORNERS; k++) {
        uint32_t at[3];
        float weight = corner_of(cell, k, at);
        float2 *to = d_table + entry_of(level, at[0], at[1], at[2]);
        atomicAdd(&to->x, weight * gx);
        atomicAdd(&to->y, weight * gy);
    }
}

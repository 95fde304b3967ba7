// A differentiable renderer's steps: triangles in fixed point into a buffer of depth and number (atomicMin on 64
// bits), pixels' barycentrics, attributes between a triangle's vertices, and gradients of attributes and barycentrics.
#include <stdint.h>

#define SUBPIXEL 16

struct InterpolateParams {
    int width, height, numTriangles, numAttr;
};

__device__ __forceinline__ int64_t edge(int2 a, int2 b, int2 p) {
    return (int64_t)(b.x - a.x) * (p.y - a.y) - (int64_t)(b.y - a.y) * (p.x - a.x);
}

extern "C" __global__ void raster_clear(unsigned long long *buffer, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        buffer[i] = ~0ull;
}

extern "C" __global__ void raster_tris(InterpolateParams p, const int2 *__restrict__ pos,
                                       const float *__restrict__ depth, const int3 *__restrict__ tri,
                                       unsigned long long *buffer) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= p.numTriangles)
        return;
    int3 v = tri[t];
    if (v.x < 0 || v.y < 0 || v.z < 0)
        return;
    int2 a = pos[v.x], b = pos[v.y], c = pos[v.z];
    int64_t area = edge(a, b, c);
    if (area <= 0)
        return;
    int x0 = max(min(a.x, min(b.x, c.x)) / SUBPIXEL, 0), x1 = min(max(a.x, max(b.x, c.x)) / SUBPIXEL, p.width - 1);
    int y0 = max(min(a.y, min(b.y, c.y)) / SUBPIXEL, 0), y1 = min(max(a.y, max(b.y, c.y)) / SUBPIXEL, p.height - 1);
    float inv = 1.0f / (float)area;
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            int2 q = make_int2(x * SUBPIXEL + SUBPIXEL / 2, y * SUBPIXEL + SUBPIXEL / 2);
            int64_t e0 = edge(b, c, q), e1 = edge(c, a, q), e2 = area - e0 - e1;
            if ((e0 | e1 | e2) < 0)
                continue;
            float w0 = (float)e0 * inv, w1 = (float)e1 * inv;
            float z = w0 * depth[v.x] + w1 * depth[v.y] + (1.0f - w0 - w1) * depth[v.z];
            if (z < 0.0f || z > 1.0f)
                continue;
            atomicMin(&buffer[y * p.width + x], (unsigned long long)__float_as_uint(z) << 32 | (unsigned)t);
        }
}

// Barycentrics, depth and one more than the number of the triangle; 0 for none.
extern "C" __global__ void raster_finish(InterpolateParams p, const int2 *__restrict__ pos,
                                         const int3 *__restrict__ tri,
                                         const unsigned long long *__restrict__ buffer, float4 *__restrict__ rast) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= p.width || y >= p.height)
        return;
    unsigned long long found = buffer[y * p.width + x];
    float4 out = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (found != ~0ull) {
        unsigned t = (unsigned)found;
        int3 v = tri[t];
        int2 a = pos[v.x], b = pos[v.y], c = pos[v.z];
        int2 q = make_int2(x * SUBPIXEL + SUBPIXEL / 2, y * SUBPIXEL + SUBPIXEL / 2);
        float inv = 1.0f / (float)edge(a, b, c);
        out = make_float4((float)edge(b, c, q) * inv, (float)edge(c, a, q) * inv, __uint_as_float(found >> 32),
                          (float)(t + 1));
    }
    rast[y * p.width + x] = out;
}

extern "C" __global__ void interp_fwd(InterpolateParams p, const int3 *__restrict__ tri, const float *__restrict__ attr,
                                      const float4 *__restrict__ rast, float *__restrict__ out) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= p.width || py >= p.height)
        return;
    int pidx = px + p.width * py;
    float *po = out + (long long)pidx * p.numAttr;
    float4 r = rast[pidx];
    int triIdx = (int)r.w - 1;
    if (triIdx < 0 || triIdx >= p.numTriangles) {
        for (int i = 0; i < p.numAttr; i++)
            po[i] = 0.0f;
        return;
    }
    int3 v = tri[triIdx];
    const float *a0 = attr + v.x * p.numAttr, *a1 = attr + v.y * p.numAttr, *a2 = attr + v.z * p.numAttr;
    float b0 = r.x, b1 = r.y, b2 = 1.0f - r.x - r.y;
    for (int i = 0; i < p.numAttr; i++)
        po[i] = b0 * a0[i] + b1 * a1[i] + b2 * a2[i];
}

extern "C" __global__ void interp_grad(InterpolateParams p, const int3 *__restrict__ tri,
                                       const float *__restrict__ attr, const float4 *__restrict__ rast,
                                       const float *__restrict__ dy, float *grad_attr, float2 *__restrict__ grad_rast) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= p.width || py >= p.height)
        return;
    int pidx = px + p.width * py;
    float4 r = rast[pidx];
    int triIdx = (int)r.w - 1;
    if (triIdx < 0 || triIdx >= p.numTriangles) {
        grad_rast[pidx] = make_float2(0.0f, 0.0f);
        return;
    }
    int3 v = tri[triIdx];
    const float *a0 = attr + v.x * p.numAttr, *a1 = attr + v.y * p.numAttr, *a2 = attr + v.z * p.numAttr;
    float *g0 = grad_attr + v.x * p.numAttr, *g1 = grad_attr + v.y * p.numAttr, *g2 = grad_attr + v.z * p.numAttr;
    const float *pdy = dy + (long long)pidx * p.numAttr;
    float b0 = r.x, b1 = r.y, b2 = 1.0f - r.x - r.y;
    float gb0 = 0.0f, gb1 = 0.0f;
    for (int i = 0; i < p.numAttr; i++) {
        float y = pdy[i];
        float s0 = a0[i], s1 = a1[i], s2 = a2[i];
        gb0 += y * (s0 - s2);
        gb1 += y * (s1 - s2);
        atomicAdd(g0 + i, b0 * y);
        atomicAdd(g1 + i, b1 * y);
        atomicAdd(g2 + i, b2 * y);
    }
    grad_rast[pidx] = make_float2(gb0, gb1);
}

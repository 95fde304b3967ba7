// Frustum culling of boxes, with a level of detail by their size on the screen; the visible ones are appended to a
// list for each level, which then gives indirect draws and the transforms of the instances, 48 bytes each.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define LODS 4

struct __align__(16) Bounds {
    float3 centre;
    unsigned int flags;
    float3 half_size;
    float radius;
};

struct Draw {
    unsigned int index_count, instance_count, first_index;
    int base_vertex;
    unsigned int first_instance;
};

struct __align__(16) Transform {
    float4 rows[3];
};

__device__ bool outside(const float4 &plane, const Bounds &b) {
    float d = plane.x * b.centre.x + plane.y * b.centre.y + plane.z * b.centre.z + plane.w;
    if (d > b.radius)
        return false;
    if (d < -b.radius)
        return true;
    float r = fabsf(plane.x) * b.half_size.x + fabsf(plane.y) * b.half_size.y + fabsf(plane.z) * b.half_size.z;
    return d < -r;
}

extern "C" __global__ void cull_boxes(const Bounds *__restrict__ boxes, const float4 *__restrict__ planes,
                                      unsigned int *__restrict__ lists, unsigned int *counts, int n, float eye_x,
                                      float eye_y, float eye_z, float scale) {
    __shared__ float4 plane[6];
    if (threadIdx.x < 6)
        plane[threadIdx.x] = planes[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Bounds b = boxes[i];
    if (!(b.flags & 1))
        return;
    for (int p = 0; p < 6; p++)
        if (outside(plane[p], b))
            return;
    float dx = b.centre.x - eye_x, dy = b.centre.y - eye_y, dz = b.centre.z - eye_z;
    float size = b.radius * b.radius * scale / (dx * dx + dy * dy + dz * dz + 1e-6f);
    if (size < 1e-5f && !(b.flags & 2))
        return;
    int lod = size > 1e-2f ? 0 : size > 1e-3f ? 1 : size > 1e-4f ? 2 : 3;

    auto same = cg::labeled_partition(cg::coalesced_threads(), lod);
    unsigned int first = 0;
    if (same.thread_rank() == 0)
        first = atomicAdd(&counts[lod], same.size());
    first = same.shfl(first, 0);
    lists[(size_t)lod * n + first + same.thread_rank()] = i;
}

extern "C" __global__ void write_draws(const unsigned int *counts, const int3 *meshes, Draw *draws) {
    int lod = threadIdx.x;
    if (lod >= LODS)
        return;
    unsigned int before = 0;
    for (int k = 0; k < lod; k++)
        before += counts[k];
    int3 mesh = meshes[lod];
    Draw draw;
    draw.index_count = mesh.x;
    draw.instance_count = counts[lod];
    draw.first_index = mesh.y;
    draw.base_vertex = mesh.z;
    draw.first_instance = before;
    draws[lod] = draw;
}

extern "C" __global__ void gather_instances(const unsigned int *__restrict__ lists, const Draw *__restrict__ draws,
                                            const Transform *__restrict__ transforms, Transform *__restrict__ out,
                                            int n) {
    int lod = blockIdx.y;
    Draw draw = draws[lod];
    for (unsigned int k = blockIdx.x * blockDim.x + threadIdx.x; k < draw.instance_count;
         k += gridDim.x * blockDim.x)
        out[draw.first_instance + k] = transforms[lists[(size_t)lod * n + k]];
}

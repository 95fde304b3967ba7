// Clustered lights of a forward renderer: the view cut into 16 x 9 x 24 boxes, a block for each; lights (points and
// spots) tested in batches from shared memory, those that touch written to lists whose room comes from a counter.
#define BATCH 128
#define MAX_LIGHTS 96

struct Light {
    float4 sphere;       // in view space, radius
    float4 spot;         // direction, cosine of half the angle (-2: a point)
};

struct Cluster {
    float3 lo, hi;
};

extern "C" __global__ void light_bounds(Cluster *__restrict__ clusters, const float *__restrict__ slices, int nx, int ny,
                                        float tan_x, float tan_y) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x >= nx || y >= ny)
        return;
    float z0 = slices[z], z1 = slices[z + 1];
    float x0 = (2.0f * x / nx - 1.0f) * tan_x, x1 = (2.0f * (x + 1) / nx - 1.0f) * tan_x;
    float y0 = (2.0f * y / ny - 1.0f) * tan_y, y1 = (2.0f * (y + 1) / ny - 1.0f) * tan_y;
    Cluster c;
    c.lo = make_float3(fminf(x0 * z0, x0 * z1), fminf(y0 * z0, y0 * z1), z0);
    c.hi = make_float3(fmaxf(x1 * z0, x1 * z1), fmaxf(y1 * z0, y1 * z1), z1);
    clusters[(z * ny + y) * nx + x] = c;
}

__device__ __forceinline__ bool touches(const Light &light, const Cluster &c) {
    float dx = fmaxf(fmaxf(c.lo.x - light.sphere.x, light.sphere.x - c.hi.x), 0.0f);
    float dy = fmaxf(fmaxf(c.lo.y - light.sphere.y, light.sphere.y - c.hi.y), 0.0f);
    float dz = fmaxf(fmaxf(c.lo.z - light.sphere.z, light.sphere.z - c.hi.z), 0.0f);
    if (dx * dx + dy * dy + dz * dz > light.sphere.w * light.sphere.w)
        return false;
    if (light.spot.w < -1.0f)
        return true;
    // the cone against the sphere around the box
    float3 centre = make_float3(0.5f * (c.lo.x + c.hi.x), 0.5f * (c.lo.y + c.hi.y), 0.5f * (c.lo.z + c.hi.z));
    float ex = c.hi.x - centre.x, ey = c.hi.y - centre.y, ez = c.hi.z - centre.z;
    float radius = sqrtf(ex * ex + ey * ey + ez * ez);
    float vx = centre.x - light.sphere.x, vy = centre.y - light.sphere.y, vz = centre.z - light.sphere.z;
    float along = vx * light.spot.x + vy * light.spot.y + vz * light.spot.z;
    float square = vx * vx + vy * vy + vz * vz;
    float sine = sqrtf(1.0f - light.spot.w * light.spot.w);
    float closest = light.spot.w * sqrtf(fmaxf(square - along * along, 0.0f)) - along * sine;
    return !(closest > radius || along > radius + light.sphere.w || along < -radius);
}

extern "C" __global__ void __launch_bounds__(BATCH)
    light_cluster(const Cluster *__restrict__ clusters, const Light *__restrict__ lights,
                  unsigned short *__restrict__ indices, uint2 *__restrict__ ranges, unsigned *used, int count) {
    __shared__ Light batch[BATCH];
    __shared__ unsigned short list[MAX_LIGHTS];
    __shared__ unsigned warp_count[BATCH / 32];
    __shared__ unsigned total, place;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int id = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const Cluster mine = clusters[id];
    if (tid == 0)
        total = 0;
    for (int base = 0; base < count; base += BATCH) {
        if (base + tid < count)
            batch[tid] = lights[base + tid];
        __syncthreads();
        bool hit = base + tid < count && touches(batch[tid], mine);
        unsigned ballot = __ballot_sync(0xffffffffu, hit);
        if (lane == 0)
            warp_count[warp] = __popc(ballot);
        __syncthreads();
        unsigned at = total;
        for (int w = 0; w < warp; w++)
            at += warp_count[w];
        at += __popc(ballot & ((1u << lane) - 1));
        if (hit && at < MAX_LIGHTS)
            list[at] = (unsigned short)(base + tid);
        __syncthreads();
        if (tid == 0)
            for (int w = 0; w < BATCH / 32; w++)
                total += warp_count[w];
    }
    __syncthreads();
    unsigned n = min(total, MAX_LIGHTS);
    if (tid == 0) {
        place = n ? atomicAdd(used, n) : 0;
        ranges[id] = make_uint2(n, total);
    }
    __syncthreads();
    for (unsigned i = tid; i < n; i += BATCH)
        indices[place + i] = list[i];
}

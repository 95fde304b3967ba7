// Broad phase by sweep and prune: boxes sorted by their lower x (made before); a thread for each box walks to the
// right until boxes start beyond its upper x, tests y, z and the groups' masks, and appends pairs, a warp at a time.
struct Aabb {
    float3 lo, hi;
};

__device__ __forceinline__ bool overlaps_yz(const Aabb &a, const Aabb &b) {
    return a.lo.y <= b.hi.y && b.lo.y <= a.hi.y && a.lo.z <= b.hi.z && b.lo.z <= a.hi.z;
}

extern "C" __global__ void sap_inflate(const Aabb *__restrict__ tight, const float3 *__restrict__ velocity,
                                       const unsigned *__restrict__ order, Aabb *__restrict__ fat, float margin,
                                       float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Aabb box = tight[order[i]];
    float3 v = velocity[order[i]];
    float dx = v.x * dt, dy = v.y * dt, dz = v.z * dt;
    box.lo.x += fminf(dx, 0.0f) - margin;
    box.lo.y += fminf(dy, 0.0f) - margin;
    box.lo.z += fminf(dz, 0.0f) - margin;
    box.hi.x += fmaxf(dx, 0.0f) + margin;
    box.hi.y += fmaxf(dy, 0.0f) + margin;
    box.hi.z += fmaxf(dz, 0.0f) + margin;
    fat[i] = box;
}

extern "C" __global__ void sap_sweep(const Aabb *__restrict__ fat, const unsigned *__restrict__ order,
                                     const uint2 *__restrict__ filter, unsigned long long *__restrict__ pairs,
                                     unsigned *pair_count, unsigned capacity, float slack, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool busy = i < n;
    Aabb a;
    uint2 fa = make_uint2(0, 0);
    unsigned ida = 0;
    if (busy) {
        a = fat[i];
        ida = order[i];
        fa = filter[ida];
    }
    const int lane = threadIdx.x & 31;
    int j = i + 1;
    while (__any_sync(0xffffffffu, busy)) {
        bool hit = false;
        unsigned idb = 0;
        if (busy) {
            // `slack`: inflated lower ends are no longer quite sorted
            if (j >= n || fat[j].lo.x > a.hi.x + slack) {
                busy = false;
            } else {
                Aabb b = fat[j];
                if (b.lo.x <= a.hi.x && a.lo.x <= b.hi.x && overlaps_yz(a, b)) {
                    idb = order[j];
                    uint2 fb = filter[idb];
                    hit = (fa.x & fb.y) && (fb.x & fa.y);
                }
                j++;
            }
        }
        unsigned hits = __ballot_sync(0xffffffffu, hit);
        if (hits) {
            unsigned base = 0;
            if (lane == 0)
                base = atomicAdd(pair_count, __popc(hits));
            base = __shfl_sync(0xffffffffu, base, 0);
            unsigned at = base + __popc(hits & ((1u << lane) - 1));
            if (hit && at < capacity)
                pairs[at] = (unsigned long long)min(ida, idb) << 32 | max(ida, idb);
        }
    }
}

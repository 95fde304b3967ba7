// The points of a cloud that are near, bright and above the ground: their numbers and distances, packed.
extern "C" __global__ void near_points(const float4 *points, unsigned *index, float *distance, unsigned *count, int n,
                                       float range, float ground, float dark) {
    int lane = threadIdx.x % warpSize;
    for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
        int i = base + threadIdx.x;
        bool keep = false;
        float d = 0.0f;
        if (i < n) {
            float4 p = points[i];
            d = sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
            keep = d < range && p.z > ground && p.w > dark;
        }
        unsigned mask = __ballot_sync(0xffffffff, keep);
        unsigned first = 0;
        if (lane == 0)
            first = atomicAdd(count, __popc(mask));
        first = __shfl_sync(0xffffffff, first, 0);
        if (keep) {
            unsigned place = first + __popc(mask & ((1u << lane) - 1));
            index[place] = i;
            distance[place] = d;
        }
    }
}

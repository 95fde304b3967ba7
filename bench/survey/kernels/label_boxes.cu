// Boxes, areas and depths of the objects of a labelled image: lanes of a warp that see the same object find it out by a
// match, reduce among themselves and do atomics once; floats are compared as integers of the same order.
struct Object {
    int left, right, top, bottom;
    unsigned area;
    int nearest, farthest;     // floats, ordered as integers
    unsigned long long moment; // sum of x in the upper half, of y in the lower
};

struct Report {
    float x, y, width, height, nearest, farthest;
};

struct View {
    float scale[2], origin[2];
    int width, height, pitch, objects;
};

__device__ __forceinline__ int ordered(float f) {
    int i = __float_as_int(f);
    return i >= 0 ? i : i ^ 0x7fffffff;
}

__device__ __forceinline__ float unordered(int i) { return __int_as_float(i >= 0 ? i : i ^ 0x7fffffff); }

extern "C" __global__ void boxes_clear(Object *objects, View view) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= view.objects)
        return;
    Object o = {view.width, -1, view.height, -1, 0, 0x7fffffff, (int)0x80000000, 0};
    objects[i] = o;
}

extern "C" __global__ void boxes_reduce(const unsigned short *__restrict__ labels, const float *__restrict__ depth,
                                        Object *objects, View view) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < view.height; y += gridDim.y * blockDim.y) {
        unsigned label = x < view.width ? labels[y * view.pitch + x] : 0;
        unsigned present = __ballot_sync(0xffffffff, label != 0);
        if (label == 0)
            continue;
        unsigned peers = __match_any_sync(present, label);
        int z = ordered(depth[y * view.pitch + x]);
        int left = __reduce_min_sync(peers, x), right = __reduce_max_sync(peers, x);
        int nearest = __reduce_min_sync(peers, z), farthest = __reduce_max_sync(peers, z);
        unsigned sum = __reduce_add_sync(peers, (unsigned)x);
        if ((int)(threadIdx.x & 31) == __ffs(peers) - 1) {
            Object *o = objects + label - 1;
            unsigned count = __popc(peers);
            atomicMin(&o->left, left);
            atomicMax(&o->right, right);
            atomicMin(&o->top, y);
            atomicMax(&o->bottom, y);
            atomicAdd(&o->area, count);
            atomicMin(&o->nearest, nearest);
            atomicMax(&o->farthest, farthest);
            atomicAdd(&o->moment, (unsigned long long)sum << 32 | count * (unsigned)y);
        }
    }
}

extern "C" __global__ void boxes_report(const Object *__restrict__ objects, Report *__restrict__ reports, View view) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= view.objects)
        return;
    Object o = objects[i];
    Report r = {0, 0, 0, 0, 0, 0};
    if (o.area) {
        r.x = view.origin[0] + view.scale[0] * ((float)(unsigned)(o.moment >> 32) / o.area);
        r.y = view.origin[1] + view.scale[1] * ((float)(unsigned)o.moment / o.area);
        r.width = view.scale[0] * (o.right - o.left + 1);
        r.height = view.scale[1] * (o.bottom - o.top + 1);
        r.nearest = unordered(o.nearest);
        r.farthest = unordered(o.farthest);
    }
    reports[i] = r;
}

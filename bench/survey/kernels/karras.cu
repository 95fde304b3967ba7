// A bounding volume hierarchy of points that are sorted along a Morton curve: all inner nodes at once (Karras),
// boxes from the leaves upwards, then queries within a radius with a stack each.
struct Node {
    int parent, left, right;
};

struct Box {
    float3 low, high;
};

__device__ __forceinline__ unsigned spread(unsigned v) {
    v = (v * 0x00010001u) & 0xff0000ffu;
    v = (v * 0x00000101u) & 0x0f00f00fu;
    v = (v * 0x00000011u) & 0xc30c30c3u;
    return (v * 0x00000005u) & 0x49249249u;
}

__device__ __forceinline__ unsigned cell(float x) { return (unsigned)fminf(fmaxf(x * 1024.f, 0.f), 1023.f); }

extern "C" __global__ void bvh_codes(const float4 *__restrict__ points, unsigned *__restrict__ codes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = points[i];
    codes[i] = spread(cell(p.x)) * 4 + spread(cell(p.y)) * 2 + spread(cell(p.z));
}

// Length of the common prefix of two codes; equal codes differ by their places.
__device__ __forceinline__ int common(const unsigned *__restrict__ codes, int n, int i, unsigned code, int j) {
    if (j < 0 || j >= n)
        return -1;
    unsigned other = codes[j];
    return code == other ? 32 + __clz(i ^ j) : __clz(code ^ other);
}

// Inner nodes come first, n - 1 of them, then the leaves.
extern "C" __global__ void bvh_nodes(const unsigned *__restrict__ codes, Node *nodes, int *visits, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1)
        return;
    unsigned code = codes[i];
    int way = common(codes, n, i, code, i + 1) > common(codes, n, i, code, i - 1) ? 1 : -1;
    int least = common(codes, n, i, code, i - way);
    int most = 2;
    while (common(codes, n, i, code, i + most * way) > least)
        most *= 2;
    int length = 0;
    for (int step = most / 2; step >= 1; step /= 2)
        if (common(codes, n, i, code, i + (length + step) * way) > least)
            length += step;
    int other = i + length * way;
    int prefix = common(codes, n, i, code, other);
    int split = 0, step = length;
    do {
        step = (step + 1) / 2;
        if (common(codes, n, i, code, i + (split + step) * way) > prefix)
            split += step;
    } while (step > 1);
    int middle = i + split * way + min(way, 0);
    int left = min(i, other) == middle ? middle + n - 1 : middle;
    int right = max(i, other) == middle + 1 ? middle + n : middle + 1;
    nodes[i].left = left;
    nodes[i].right = right;
    nodes[left].parent = i;
    nodes[right].parent = i;
    if (i == 0)
        nodes[0].parent = -1;
    visits[i] = 0;
}

extern "C" __global__ void bvh_boxes(const float4 *__restrict__ points, Node *nodes, Box *boxes, int *visits, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = points[i];
    int at = i + n - 1;
    nodes[at].left = nodes[at].right = -1;
    boxes[at].low = boxes[at].high = make_float3(p.x, p.y, p.z);
    at = nodes[at].parent;
    while (at >= 0) {
        __threadfence();
        if (atomicAdd(&visits[at], 1) == 0)
            return;  // the other child's thread goes on
        __threadfence();
        const volatile Box &a = boxes[nodes[at].left], &b = boxes[nodes[at].right];
        Box box;
        box.low = make_float3(fminf(a.low.x, b.low.x), fminf(a.low.y, b.low.y), fminf(a.low.z, b.low.z));
        box.high = make_float3(fmaxf(a.high.x, b.high.x), fmaxf(a.high.y, b.high.y), fmaxf(a.high.z, b.high.z));
        boxes[at] = box;
        at = nodes[at].parent;
    }
}

__device__ __forceinline__ float beyond(float x, float low, float high) {
    return fmaxf(fmaxf(low - x, x - high), 0.f);
}

__device__ __forceinline__ bool touches(const Box &box, float4 q) {
    float dx = beyond(q.x, box.low.x, box.high.x), dy = beyond(q.y, box.low.y, box.high.y);
    float dz = beyond(q.z, box.low.z, box.high.z);
    return dx * dx + dy * dy + dz * dz <= q.w * q.w;
}

extern "C" __global__ void bvh_query(const float4 *__restrict__ queries, const float4 *__restrict__ points,
                                     const Node *__restrict__ nodes, const Box *__restrict__ boxes,
                                     int *__restrict__ hits, float *__restrict__ weights, int count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float4 q = queries[i];
    int stack[64], *top = stack;
    *top++ = -1;
    int found = 0, at = 0;
    float weight = 0.f;
    do {
        int left = nodes[at].left, right = nodes[at].right;
        bool go_left = touches(boxes[left], q), go_right = touches(boxes[right], q);
        if (go_left && left >= n - 1) {
            found++;
            weight += points[left - (n - 1)].w;
            go_left = false;
        }
        if (go_right && right >= n - 1) {
            found++;
            weight += points[right - (n - 1)].w;
            go_right = false;
        }
        if (!go_left && !go_right) {
            at = *--top;
        } else {
            at = go_left ? left : right;
            if (go_left && go_right)
                *top++ = right;
        }
    } while (at >= 0);
    hits[i] = found;
    weights[i] = weight;
}

// Refits the boxes of a binary tree of triangles from the leaves up: the second thread that comes to a node goes on.
// Nodes are two float4, whose last words are the children; then what the tree costs by the surfaces of its boxes.
struct Triangle {
    float3 a, b, c;
};

struct __align__(16) Node {
    float3 low;
    int left;
    float3 high;
    int right;
};

__device__ __forceinline__ float3 min3(float3 a, float3 b) {
    return make_float3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}

__device__ __forceinline__ float3 max3(float3 a, float3 b) {
    return make_float3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}

__device__ __forceinline__ Node load_node(const Node *at) {
    const float4 *words = reinterpret_cast<const float4 *>(at);
    float4 low = __ldcg(words), high = __ldcg(words + 1);
    Node node;
    node.low = make_float3(low.x, low.y, low.z);
    node.left = __float_as_int(low.w);
    node.high = make_float3(high.x, high.y, high.z);
    node.right = __float_as_int(high.w);
    return node;
}

__device__ __forceinline__ void store_box(Node *at, float3 low, float3 high, int left, int right) {
    float4 *words = reinterpret_cast<float4 *>(at);
    __stcg(words, make_float4(low.x, low.y, low.z, __int_as_float(left)));
    __stcg(words + 1, make_float4(high.x, high.y, high.z, __int_as_float(right)));
}

extern "C" __global__ void refit_move(const Triangle *__restrict__ rest, Triangle *__restrict__ moved, int count,
                                      float time) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Triangle t = rest[i];
    float3 *corner = &t.a;
    for (int k = 0; k < 3; k++) {
        float3 p = corner[k];
        corner[k].x = p.x + 0.25f * p.z * time;
        corner[k].y = p.y * (1.0f + 0.5f * time);
        corner[k].z = p.z - 0.125f * time * p.y * p.y;
    }
    moved[i] = t;
}

extern "C" __global__ void refit(const Triangle *__restrict__ triangles, const int *__restrict__ leaf_nodes,
                                 const int *__restrict__ parents, Node *nodes, int *visits, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Triangle t = triangles[i];
    int at = leaf_nodes[i];
    store_box(nodes + at, min3(t.a, min3(t.b, t.c)), max3(t.a, max3(t.b, t.c)), -1, i);
    for (at = parents[at]; at >= 0; at = parents[at]) {
        __threadfence();
        if (atomicAdd(&visits[at], 1) == 0)
            return;
        __threadfence();
        int left = nodes[at].left, right = nodes[at].right;
        Node l = load_node(nodes + left), r = load_node(nodes + right);
        store_box(nodes + at, min3(l.low, r.low), max3(l.high, r.high), left, right);
    }
}

extern "C" __global__ void refit_cost(const Node *__restrict__ nodes, double *cost, int node_count) {
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < node_count; i += gridDim.x * blockDim.x) {
        Node n = nodes[i];
        double x = n.high.x - n.low.x, y = n.high.y - n.low.y, z = n.high.z - n.low.z;
        sum += 2.0 * (x * y + y * z + z * x) * (n.left < 0 ? 1.0 : 1.5);
    }
    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(cost, sum);
}

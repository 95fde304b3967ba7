// The nearest sphere along a ray, through a tree of boxes with a stack for each thread.
struct Node {
    float low[3];
    int first;  // child, or the first sphere
    float high[3];
    int count;  // of spheres, 0 in inner nodes
};

__device__ bool meets(const Node &node, float3 o, float3 inv, float far) {
    float t0 = 0, t1 = far;
    float a = (node.low[0] - o.x) * inv.x, b = (node.high[0] - o.x) * inv.x;
    t0 = fmaxf(t0, fminf(a, b)), t1 = fminf(t1, fmaxf(a, b));
    a = (node.low[1] - o.y) * inv.y, b = (node.high[1] - o.y) * inv.y;
    t0 = fmaxf(t0, fminf(a, b)), t1 = fminf(t1, fmaxf(a, b));
    a = (node.low[2] - o.z) * inv.z, b = (node.high[2] - o.z) * inv.z;
    t0 = fmaxf(t0, fminf(a, b)), t1 = fminf(t1, fmaxf(a, b));
    return t0 <= t1;
}

extern "C" __global__ void trace(const Node *__restrict__ nodes, const float4 *__restrict__ spheres,
                                 float *__restrict__ depth, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float3 o = make_float3(0.5f, 0.5f, -1.0f), d = make_float3((x + 0.5f) / w - 0.5f, (y + 0.5f) / h - 0.5f, 1.0f);
    float3 inv = make_float3(1 / d.x, 1 / d.y, 1 / d.z);
    float far = 1e30f, dd = d.x * d.x + d.y * d.y + d.z * d.z;
    int stack[32], top = 0, node = 0;
    while (true) {
        const Node &b = nodes[node];
        if (meets(b, o, inv, far)) {
            if (b.count == 0) {
                stack[top++] = b.first + 1;
                node = b.first;
                continue;
            }
            for (int k = b.first; k < b.first + b.count; k++) {
                float4 s = spheres[k];
                float cx = s.x - o.x, cy = s.y - o.y, cz = s.z - o.z;
                float m = cx * d.x + cy * d.y + cz * d.z, c = cx * cx + cy * cy + cz * cz - s.w * s.w;
                float disc = m * m - dd * c;
                if (disc > 0) {
                    float t = (m - sqrtf(disc)) / dd;
                    if (t > 0 && t < far)
                        far = t;
                }
            }
        }
        if (top == 0)
            break;
        node = stack[--top];
    }
    depth[y * w + x] = far;
}

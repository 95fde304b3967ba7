// Connected components: hooking by compare-and-swap, paths halved on the way.
__device__ int root(int *parent, int v) {
    int p = parent[v];
    while (p != v) {
        int q = parent[p];
        if (p != q)
            parent[v] = q;
        v = p;
        p = q;
    }
    return v;
}

extern "C" __global__ void hook(const int2 *__restrict__ edges, int *parent, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int2 e = edges[i];
    int u = root(parent, e.x), v = root(parent, e.y);
    while (u != v) {
        int high = max(u, v), low = min(u, v), old = atomicCAS(parent + high, high, low);
        if (old == high)
            break;
        u = root(parent, old);
        v = root(parent, low);
    }
}

extern "C" __global__ void flatten(int *parent, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int p = parent[v];
    while (p != parent[p])
        p = parent[p];
    parent[v] = p;
}

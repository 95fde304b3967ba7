// A minimum spanning forest by Boruvka's rounds: each tree takes its lightest edge out (by 64-bit atomicMin of weight
// and number), trees hang themselves on each other, and labels jump to the roots.
typedef unsigned long long Key;
#define NONE 0xffffffffffffffffull

struct Edge {
    int u, v;
    unsigned int weight;
};

extern "C" __global__ void mst_init(int *label, Key *best, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    label[v] = v;
    best[v] = NONE;
}

extern "C" __global__ void mst_lightest(const Edge *__restrict__ edges, const int *__restrict__ label, Key *best,
                                        int m) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m)
        return;
    Edge edge = edges[e];
    int a = label[edge.u], b = label[edge.v];
    if (a == b)
        return;
    Key key = (Key)edge.weight << 32 | (unsigned int)e;
    if (key < best[a])
        atomicMin(&best[a], key);
    if (key < best[b])
        atomicMin(&best[b], key);
}

extern "C" __global__ void mst_hook(const Edge *__restrict__ edges, const int *__restrict__ label,
                                    const Key *__restrict__ best, int *parent, unsigned char *in_tree, Key *total,
                                    int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    parent[v] = label[v];
    if (label[v] != v || best[v] == NONE)
        return;
    unsigned int e = (unsigned int)best[v];
    Edge edge = edges[e];
    int a = label[edge.u], b = label[edge.v];
    int other = a == v ? b : a;
    // two that chose the same edge: the smaller one stays a root
    if (best[other] == best[v] && v < other)
        return;
    parent[v] = other;
    in_tree[e] = 1;
    atomicAdd(total, (Key)edge.weight);
}

extern "C" __global__ void mst_jump(const int *__restrict__ parent, int *__restrict__ label, Key *best, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int root = parent[v];
    while (root != parent[root])
        root = parent[root];
    label[v] = root;
    best[v] = NONE;
}

// Connected components by Afforest: the first two neighbours of all vertices are linked, the component that most of a
// sample belong to is found, and only vertices outside it look at the rest of their neighbours.
#define SAMPLES 256

__device__ void link(int u, int v, int *parent) {
    int a = parent[u], b = parent[v];
    while (a != b) {
        int high = max(a, b), low = min(a, b);
        int above = atomicCAS(&parent[high], high, low);
        if (above == high || above == low)
            return;
        a = parent[parent[high]];
        b = parent[low];
    }
}

extern "C" __global__ void cc_init(int *parent, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        parent[v] = v;
}

extern "C" __global__ void cc_sample(const int *__restrict__ row, const int *__restrict__ column, int *parent, int n,
                                     int nth) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && row[v] + nth < row[v + 1])
        link(v, column[row[v] + nth], parent);
}

extern "C" __global__ void cc_compress(int *parent, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    volatile int *p = parent;
    int at = p[v];
    while (at != p[at])
        at = p[at];
    p[v] = at;
}

// One block: the label that occurs most often among 256 vertices.
extern "C" __global__ void cc_largest(const int *parent, int *largest, int n) {
    __shared__ int label[SAMPLES];
    __shared__ unsigned best;
    const int t = threadIdx.x;
    label[t] = parent[(unsigned long long)t * 2654435761ull % n];
    if (t == 0)
        best = 0;
    __syncthreads();
    unsigned same = 0;
    for (int i = 0; i < SAMPLES; i++)
        same += label[i] == label[t];
    atomicMax(&best, same << 8 | (unsigned)t);
    __syncthreads();
    if (t == 0)
        *largest = label[best & 255u];
}

// Warps, each of which takes a vertex.
extern "C" __global__ void cc_finish(const int *__restrict__ row, const int *__restrict__ column, int *parent,
                                     const int *largest, int n, int sampled) {
    const int lane = threadIdx.x % 32;
    for (int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32; v < n; v += gridDim.x * blockDim.x / 32) {
        if (parent[v] == *largest)
            continue;
        for (int e = row[v] + sampled + lane; e < row[v + 1]; e += 32)
            link(v, column[e], parent);
    }
}

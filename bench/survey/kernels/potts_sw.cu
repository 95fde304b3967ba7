// Potts' model by Swendsen and Wang's clusters: bonds between equal neighbours by a hash of place and sweep, clusters
// by joining trees with atomic minima, a new spin for each cluster, and counts of spins and equal pairs.
#define MOST_STATES 16

__device__ __forceinline__ unsigned long long mix(unsigned long long z) {
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__device__ unsigned draw(unsigned seed, unsigned sweep, unsigned what, unsigned site) {
    return (unsigned)(mix(((unsigned long long)(seed ^ sweep * 0x632be5abu) << 32) | (what << 28) ^ site) >> 32);
}

extern "C" __global__ void potts_bonds(const unsigned char *__restrict__ spin, unsigned char *__restrict__ bond,
                                       int *__restrict__ label, int nx, int ny, unsigned threshold, unsigned seed,
                                       unsigned sweep) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    const int site = y * nx + x;
    const int right = y * nx + (x + 1 == nx ? 0 : x + 1), below = (y + 1 == ny ? 0 : y + 1) * nx + x;
    const unsigned char s = spin[site];
    unsigned char bits = 0;
    if (s == spin[right] && draw(seed, sweep, 0, site) < threshold)
        bits |= 1;
    if (s == spin[below] && draw(seed, sweep, 1, site) < threshold)
        bits |= 2;
    bond[site] = bits;
    label[site] = site;
}

__device__ int find(const int *label, int at) {
    const volatile int *now = label;
    int parent = now[at];
    while (parent != at) {
        at = parent;
        parent = now[at];
    }
    return at;
}

__device__ void join(int *label, int a, int b) {
    for (;;) {
        a = find(label, a);
        b = find(label, b);
        if (a == b)
            return;
        if (a > b) {
            const int t = a;
            a = b;
            b = t;
        }
        const int old = atomicMin(&label[b], a);
        if (old == b)
            return;
        b = old;
    }
}

extern "C" __global__ void potts_join(const unsigned char *__restrict__ bond, int *label, int nx, int ny) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    const int site = y * nx + x;
    const unsigned char bits = bond[site];
    if (bits & 1)
        join(label, site, y * nx + (x + 1 == nx ? 0 : x + 1));
    if (bits & 2)
        join(label, site, (y + 1 == ny ? 0 : y + 1) * nx + x);
}

extern "C" __global__ void potts_spins(const int *__restrict__ label, int *__restrict__ root,
                                       unsigned char *__restrict__ spin, int n, int states, unsigned seed,
                                       unsigned sweep) {
    const int site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= n)
        return;
    int at = site;
    while (label[at] != at)
        at = label[at];
    root[site] = at;
    spin[site] = (unsigned char)(((unsigned long long)draw(seed, sweep, 2, at) * states) >> 32);
}

extern "C" __global__ void potts_measure(const unsigned char *__restrict__ spin, int *__restrict__ counts, int nx,
                                         int ny, int states, int sweep) {
    __shared__ int mine[MOST_STATES + 1];
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    if (t <= states)
        mine[t] = 0;
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int equal = 0;
    if (x < nx && y < ny) {
        const int s = spin[y * nx + x];
        atomicAdd(&mine[s], 1);
        equal = (s == spin[y * nx + (x + 1 == nx ? 0 : x + 1)]) + (s == spin[(y + 1 == ny ? 0 : y + 1) * nx + x]);
    }
    equal = __reduce_add_sync(0xffffffffu, equal);
    if (threadIdx.x == 0)  // blocks are 32 wide
        atomicAdd(&mine[states], equal);
    __syncthreads();
    if (t <= states && mine[t] != 0)
        atomicAdd(&counts[sweep * (states + 1) + t], mine[t]);
}

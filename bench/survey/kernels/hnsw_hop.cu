// Search in the bottom layer of a small-world graph of byte vectors: a warp for each query keeps the 32 nearest so far
// in registers, sorted; visited nodes in a hash table in shared memory; neighbours' distances by dp4a.
#define WARPS 4
#define SLOTS 2048
#define DIM4 8  // ints of a vector
#define DEGREE 16
typedef unsigned long long Key;  // distance, id, expanded
#define NONE 0xffffffffffffffffull

__device__ __forceinline__ Key exchange(Key key, int mask, bool ascending, int lane) {
    Key other = __shfl_xor_sync(0xffffffffu, key, mask);
    bool low = (lane & mask) == 0;
    return (key < other) == (low == ascending) ? key : other;
}

__device__ Key warp_sort(Key key, int lane) {
#pragma unroll
    for (int size = 2; size <= 32; size <<= 1)
#pragma unroll
        for (int mask = size >> 1; mask > 0; mask >>= 1)
            key = exchange(key, mask, (lane & size) == 0, lane);
    return key;
}

__device__ bool visit(unsigned *table, unsigned id) {
    unsigned slot = (id * 2654435761u) >> 21;
    while (true) {
        unsigned old = atomicCAS(&table[slot], 0xffffffffu, id);
        if (old == 0xffffffffu)
            return true;
        if (old == id)
            return false;
        slot = (slot + 1) & (SLOTS - 1);
    }
}

__device__ int distance(const int *__restrict__ a, const int4 (&b)[DIM4 / 4]) {
    int sum = 0;
    const int4 *a4 = reinterpret_cast<const int4 *>(a);
#pragma unroll
    for (int k = 0; k < DIM4 / 4; k++) {
        int4 v = a4[k];
        int d[4] = {v.x, v.y, v.z, v.w};
        int e[4] = {b[k].x, b[k].y, b[k].z, b[k].w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned gap = __vabsdiffs4(d[i], e[i]);
            sum = (int)__dp4a(gap, gap, (unsigned)sum);
        }
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    hnsw_hop(const int *__restrict__ vectors, const int *__restrict__ neighbors, const int *__restrict__ queries,
             int *__restrict__ found, int *__restrict__ hops, int n, int count, int nearest, int max_hops) {
    __shared__ unsigned visited[WARPS][SLOTS];
    const int warp = threadIdx.y, lane = threadIdx.x;
    const int query = blockIdx.x * WARPS + warp;
    for (int i = lane; i < SLOTS; i += 32)
        visited[warp][i] = 0xffffffffu;
    __syncwarp();
    if (query >= count)
        return;
    int4 q[DIM4 / 4];
#pragma unroll
    for (int k = 0; k < DIM4 / 4; k++)
        q[k] = reinterpret_cast<const int4 *>(queries)[query * (DIM4 / 4) + k];
    // 32 entry points, spread
    unsigned id = (unsigned)((lane * (long long)n) / 32);
    visit(visited[warp], id);
    Key key = (Key)distance(vectors + id * DIM4, q) << 32 | id << 1;
    key = warp_sort(key, lane);
    int hop = 0;
    for (; hop < max_hops; hop++) {
        unsigned open = __ballot_sync(0xffffffffu, key != NONE && !(key & 1));
        if (!open)
            break;
        int source = __ffs(open) - 1;
        unsigned node = (unsigned)__shfl_sync(0xffffffffu, key, source) >> 1;
        if (lane == source)
            key |= 1;
        Key fresh = NONE;
        if (lane < DEGREE) {
            int other = neighbors[node * DEGREE + lane];
            if (other >= 0 && visit(visited[warp], other))
                fresh = (Key)distance(vectors + other * DIM4, q) << 32 | (unsigned)other << 1;
        }
        Key worst = __shfl_sync(0xffffffffu, key, 31);
        if (!__any_sync(0xffffffffu, fresh < worst))
            continue;
        fresh = warp_sort(fresh, lane);
        key = min(key, __shfl_xor_sync(0xffffffffu, fresh, 31));
#pragma unroll
        for (int mask = 16; mask > 0; mask >>= 1)
            key = exchange(key, mask, true, lane);
    }
    if (lane < nearest)
        found[query * nearest + lane] = (int)((unsigned)key >> 1);
    if (lane == 0)
        hops[query] = hop;
}

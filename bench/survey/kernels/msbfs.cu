// 64 breadth-first searches at once, a bit each: a level pushes fronts along edges, then keeps what was not seen; sums
// of distances by vertex, from which closeness follows.
typedef unsigned long long Bits;

extern "C" __global__ void ms_start(const int *__restrict__ sources, Bits *seen, Bits *front, Bits *next, int *reached,
                                    long long *far, int n) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
        Bits mine = 0;
        for (int s = 0; s < 64; s++)
            if (sources[s] == v)
                mine |= 1ull << s;
        seen[v] = front[v] = mine;
        next[v] = 0;
        reached[v] = __popcll(mine);
        far[v] = 0;
    }
}

// Half a warp a vertex.
extern "C" __global__ void ms_push(const int *__restrict__ row, const int *__restrict__ column,
                                   const Bits *__restrict__ front, const Bits *__restrict__ seen, Bits *next, int n) {
    const int v = blockIdx.x * blockDim.y + threadIdx.y;
    if (v >= n)
        return;
    const Bits mine = front[v];
    if (mine == 0)
        return;
    for (int e = row[v] + threadIdx.x; e < row[v + 1]; e += blockDim.x) {
        int to = column[e];
        Bits fresh = mine & ~seen[to];
        if ((fresh & ~next[to]) != 0)
            atomicOr(&next[to], fresh);
    }
}

extern "C" __global__ void ms_settle(Bits *seen, Bits *front, Bits *next, int *reached, long long *far, int level,
                                     int n) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
        Bits fresh = next[v];
        front[v] = fresh;
        if (fresh) {
            next[v] = 0;
            seen[v] |= fresh;
            int count = __popcll(fresh);
            reached[v] += count;
            far[v] += (long long)count * level;
        }
    }
}

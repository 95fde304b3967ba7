// Shortest paths from one vertex by near and far piles: threads relax the edges of the near pile's vertices;
// when it is empty, the limit moves on and the far pile is split. The piles' sizes stay on the device.
#define NOT_REACHED 0x7fffffff

struct Piles {
    int near_count;  // of the pile that is being read
    int next_count;  // of the one that is being written
    int far_count;
    int kept_count;
    int limit;
    int splitting;
    int round;
};

extern "C" __global__ void sssp_start(int *dist, int *stamp, Piles *piles, int *near_pile, int n, int source,
                                      int delta) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        dist[v] = v == source ? 0 : NOT_REACHED;
        stamp[v] = -1;
    }
    if (v == 0) {
        near_pile[0] = source;
        *piles = Piles{1, 0, 0, 0, delta, 0, 0};
    }
}

extern "C" __global__ void sssp_relax(const int *__restrict__ row_start, const int *__restrict__ neighbours,
                                      const int *__restrict__ weights, int *dist, int *stamp, Piles *piles,
                                      const int *near_pile, int *next_pile, int *far_pile) {
    int count = piles->near_count, limit = piles->limit, round = piles->round;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int v = near_pile[i];
        int from = *(volatile int *)&dist[v];
        for (int e = row_start[v]; e < row_start[v + 1]; e++) {
            int u = neighbours[e], reached = from + weights[e];
            if (reached >= atomicMin(&dist[u], reached))
                continue;
            if (reached >= limit)
                far_pile[atomicAdd(&piles->far_count, 1)] = u;
            else if (atomicExch(&stamp[u], round) != round)
                next_pile[atomicAdd(&piles->next_count, 1)] = u;
        }
    }
}

// One thread: what was written is read next; if it is nothing, the far pile is to be split.
extern "C" __global__ void sssp_advance(Piles *piles, int delta) {
    piles->near_count = piles->next_count;
    piles->next_count = 0;
    piles->round += 2;
    piles->splitting = piles->near_count == 0 && piles->far_count > 0;
    if (piles->splitting) {
        piles->limit += delta;
        piles->kept_count = 0;
    }
}

extern "C" __global__ void sssp_split(const int *dist, int *stamp, Piles *piles, const int *far_pile, int *kept_pile,
                                      int *near_pile, int delta) {
    if (!piles->splitting)
        return;
    int limit = piles->limit, round = piles->round - 1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < piles->far_count; i += gridDim.x * blockDim.x) {
        int v = far_pile[i];
        if (dist[v] < limit - delta)
            continue; // reached on a shorter way since then
        if (dist[v] >= limit)
            kept_pile[atomicAdd(&piles->kept_count, 1)] = v;
        else if (atomicExch(&stamp[v], round) != round)
            near_pile[atomicAdd(&piles->near_count, 1)] = v;
    }
}

extern "C" __global__ void sssp_keep(Piles *piles, int *far_pile, const int *kept_pile) {
    if (!piles->splitting)
        return;
    for (int i = threadIdx.x; i < piles->kept_count; i += blockDim.x)
        far_pile[i] = kept_pile[i];
    __syncthreads();
    if (threadIdx.x == 0)
        piles->far_count = piles->kept_count;
}

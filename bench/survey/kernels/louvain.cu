// Louvain's moves: a warp a vertex adds the weights to each community next to it in a hash table in shared memory.
#define SLOTS 256
#define WARPS 4
#define FULL 0xffffffffu

__device__ __forceinline__ unsigned int mixed(unsigned int x) {
    x *= 0x9e3779b1u;
    return x ^ x >> 15;
}

// Half of the vertices of a round may move, so that pairs do not change places for ever.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    louvain_move(const int *__restrict__ row_start, const int *__restrict__ columns, const int *__restrict__ weights,
                 const int *__restrict__ strength, const int *__restrict__ community, const int *__restrict__ total,
                 int *__restrict__ next, int n, int two_m, int round) {
    __shared__ int keys[WARPS][SLOTS];
    __shared__ int sums[WARPS][SLOTS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int v = blockIdx.x * WARPS + warp;
    if (v >= n)
        return;
    const int own = community[v];
    if (((mixed(v) >> 7 ^ round) & 1) != 0) {
        if (lane == 0)
            next[v] = own;
        return;
    }
    int *key = keys[warp], *sum = sums[warp];
    for (int s = lane; s < SLOTS; s += 32) {
        key[s] = -1;
        sum[s] = 0;
    }
    __syncwarp();
    for (int e = row_start[v] + lane; e < row_start[v + 1]; e += 32) {
        int c = community[columns[e]];
        unsigned int slot = mixed(c) % SLOTS;
        while (true) {
            int old = atomicCAS(&key[slot], -1, c);
            if (old == -1 || old == c)
                break;
            slot = (slot + 1) % SLOTS;
        }
        atomicAdd(&sum[slot], weights[e]);
    }
    __syncwarp();

    const long long k = strength[v];
    long long best = -(1ll << 62), stay = -(total[own] - k) * k;
    int to = n;
    for (int s = lane; s < SLOTS; s += 32) {
        int c = key[s];
        if (c < 0)
            continue;
        if (c == own) {
            stay += (long long)two_m * sum[s];
            continue;
        }
        long long gain = (long long)two_m * sum[s] - total[c] * k;
        if (gain > best || (gain == best && c < to)) {
            best = gain;
            to = c;
        }
    }
    for (int d = 16; d > 0; d >>= 1) {
        long long other = __shfl_xor_sync(FULL, best, d);
        int other_to = __shfl_xor_sync(FULL, to, d);
        if (other > best || (other == best && other_to < to)) {
            best = other;
            to = other_to;
        }
        stay = max(stay, __shfl_xor_sync(FULL, stay, d));
    }
    if (lane == 0)
        next[v] = best > stay ? to : own;
}

extern "C" __global__ void louvain_clear(int *total, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < n)
        total[c] = 0;
}

extern "C" __global__ void louvain_total(const int *__restrict__ next, const int *__restrict__ strength,
                                         int *community, int *total, int *moved, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    bool moves = false;
    if (v < n) {
        int c = next[v];
        moves = c != community[v];
        community[v] = c;
        atomicAdd(&total[c], strength[v]);
    }
    unsigned int who = __ballot_sync(FULL, moves);
    if ((threadIdx.x & 31) == 0 && who != 0)
        atomicAdd(moved, __popc(who));
}

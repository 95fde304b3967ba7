// A breadth-first search that changes its direction: from few vertices to their neighbours, or, when many are at the
// front, from those not yet seen to any neighbour at the front. Fronts are bitmaps, one thread decides, and what is
// not in its turn returns at once.
#define FULL 0xffffffffu

struct State {
    int depth, bottom_up;
    int vertices, new_vertices;
    long long edges, new_edges, unexplored;
};

extern "C" __global__ void bfs_start(int *level, unsigned *front, unsigned *next, State *state,
                                     const int *__restrict__ row, int source, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        level[i] = i == source ? 0 : -1;
    if (i < (n + 31) / 32) {
        front[i] = i == source / 32 ? 1u << source % 32 : 0;
        next[i] = 0;
    }
    if (i == 0) {
        State s;
        s.depth = 0;
        s.bottom_up = 0;
        s.vertices = 0;
        s.new_vertices = 1;
        s.edges = 0;
        s.new_edges = row[source + 1] - row[source];
        s.unexplored = row[n];
        *state = s;
    }
}

extern "C" __global__ void bfs_plan(State *state, int *history, int alpha, int beta, int n) {
    if (blockIdx.x * blockDim.x + threadIdx.x > 0)
        return;
    State s = *state;
    s.vertices = s.new_vertices;
    s.edges = s.new_edges;
    s.unexplored -= s.edges;
    s.new_vertices = 0;
    s.new_edges = 0;
    if (!s.bottom_up)
        s.bottom_up = s.edges > s.unexplored / alpha;
    else
        s.bottom_up = s.vertices > n / beta;
    history[2 * s.depth] = s.vertices;
    history[2 * s.depth + 1] = s.bottom_up;
    s.depth++;
    *state = s;
}

__device__ __forceinline__ int warp_sum(int value) {
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_down_sync(FULL, value, offset);
    return value;
}

__device__ void count(State *state, int vertices, int edges) {
    vertices = warp_sum(vertices);
    edges = warp_sum(edges);
    if ((threadIdx.x & 31) == 0 && vertices) {
        atomicAdd(&state->new_vertices, vertices);
        atomicAdd((unsigned long long *)&state->new_edges, (unsigned long long)edges);
    }
}

extern "C" __global__ void bfs_topdown(const int *__restrict__ row, const int *__restrict__ col, int *level,
                                       const unsigned *__restrict__ front, unsigned *next, State *state, int n) {
    if (state->bottom_up)
        return;
    int v = blockIdx.x * blockDim.x + threadIdx.x, depth = state->depth;
    int vertices = 0, edges = 0;
    if (v < n && (front[v >> 5] >> (v & 31) & 1)) {
        for (int e = row[v]; e < row[v + 1]; e++) {
            int w = col[e];
            if (level[w] == -1 && atomicCAS(&level[w], -1, depth) == -1) {
                atomicOr(&next[w >> 5], 1u << (w & 31));
                vertices++;
                edges += row[w + 1] - row[w];
            }
        }
    }
    count(state, vertices, edges);
}

extern "C" __global__ void bfs_bottomup(const int *__restrict__ row, const int *__restrict__ col, int *level,
                                        const unsigned *__restrict__ front, unsigned *next, State *state, int n) {
    if (!state->bottom_up)
        return;
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    bool found = false;
    int edges = 0;
    if (v < n && level[v] == -1) {
        int first = row[v], last = row[v + 1];
        for (int e = first; e < last; e++) {
            int w = col[e];
            if (front[w >> 5] >> (w & 31) & 1) {
                level[v] = state->depth;
                found = true;
                edges = last - first;
                break;
            }
        }
    }
    unsigned word = __ballot_sync(FULL, found);
    if ((threadIdx.x & 31) == 0 && v < n)
        next[v >> 5] = word;
    count(state, found, edges);
}

extern "C" __global__ void bfs_wipe(unsigned *bitmap, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words)
        bitmap[i] = 0;
}

// Flow fields of a strategy game: costs to the goals by tiles that relax in shared memory (several rounds a launch,
// only tiles that a neighbour has changed), then the direction to the cheapest of eight neighbours.
#define TILE 16
#define INF 0x3fffffff

extern "C" __global__ void flow_relax(const unsigned char *__restrict__ terrain, const int *__restrict__ cost,
                                      int *__restrict__ cost_next, const unsigned char *__restrict__ awake,
                                      unsigned char *awake_next, int w, int h, int rounds) {
    __shared__ int tile[TILE + 2][TILE + 2];
    const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    const int tiles_x = gridDim.x;
    const int x = bx * TILE + tx, y = by * TILE + ty;
    if (!awake[by * tiles_x + bx]) {
        if (x < w && y < h)
            cost_next[y * w + x] = cost[y * w + x];
        return;
    }
    const int tid = ty * TILE + tx;
    for (int k = tid; k < (TILE + 2) * (TILE + 2); k += TILE * TILE) {
        int lx = k % (TILE + 2), ly = k / (TILE + 2);
        int gx = bx * TILE + lx - 1, gy = by * TILE + ly - 1;
        tile[ly][lx] = gx >= 0 && gx < w && gy >= 0 && gy < h ? cost[gy * w + gx] : INF;
    }
    __syncthreads();
    const bool inside = x < w && y < h;
    const int step = inside ? terrain[y * w + x] : 255;
    const bool wall = step == 255;
    const int before = tile[ty + 1][tx + 1];
    int mine = before;
    for (int r = 0; r < rounds; r++) {
        int next = mine;
        if (!wall) {
            next = min(next, tile[ty][tx + 1] + 10 * step);
            next = min(next, tile[ty + 2][tx + 1] + 10 * step);
            next = min(next, tile[ty + 1][tx] + 10 * step);
            next = min(next, tile[ty + 1][tx + 2] + 10 * step);
            next = min(next, min(tile[ty][tx], tile[ty][tx + 2]) + 14 * step);
            next = min(next, min(tile[ty + 2][tx], tile[ty + 2][tx + 2]) + 14 * step);
        }
        bool changed = next < mine;
        if (!__syncthreads_or(changed))
            break;
        mine = next;
        tile[ty + 1][tx + 1] = mine;
        __syncthreads();
    }
    bool any = __syncthreads_or(mine < before);
    if (inside)
        cost_next[y * w + x] = mine;
    if (any && tid < 9) {
        int nx = bx + tid % 3 - 1, ny = by + tid / 3 - 1;
        if (nx >= 0 && nx < tiles_x && ny >= 0 && ny < gridDim.y)
            awake_next[ny * tiles_x + nx] = 1;
    }
}

extern "C" __global__ void flow_rest(unsigned char *awake, int tiles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tiles)
        awake[i] = 0;
}

__constant__ signed char STEP_X[8] = {1, 1, 0, -1, -1, -1, 0, 1};
__constant__ signed char STEP_Y[8] = {0, 1, 1, 1, 0, -1, -1, -1};

extern "C" __global__ void flow_direct(const int *__restrict__ cost, signed char *__restrict__ direction, int w,
                                       int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int best = cost[y * w + x];
    signed char way = -1;
    if (best < INF) {
        for (int k = 0; k < 8; k++) {
            int nx = x + STEP_X[k], ny = y + STEP_Y[k];
            if (nx < 0 || ny < 0 || nx >= w || ny >= h)
                continue;
            int c = cost[ny * w + nx];
            // no cutting of corners
            if ((k & 1) && (cost[y * w + nx] >= INF || cost[ny * w + x] >= INF))
                continue;
            if (c < best) {
                best = c;
                way = (signed char)k;
            }
        }
    }
    direction[y * w + x] = way;
}

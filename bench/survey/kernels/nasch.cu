// Nagel and Schreckenberg's traffic on ring roads of two lanes: -1 is an empty cell, else the speed of a car. A step
// is three launches: cars change lanes, the road is cleared, cars go.
#define EMPTY -1
#define VMAX 5

__device__ unsigned int hash(unsigned int x) {
    x = (x ^ 61u) ^ (x >> 16);
    x *= 9u;
    x = x ^ (x >> 4);
    x *= 0x27d4eb2du;
    return x ^ (x >> 15);
}

__device__ int gap_ahead(const signed char *lane, int x, int length, int most) {
    int gap = 0;
    while (gap < most && lane[(x + gap + 1) % length] == EMPTY)
        gap++;
    return gap;
}

__device__ bool free_behind(const signed char *lane, int x, int length) {
    for (int d = 1; d <= VMAX; d++)
        if (lane[(x - d + length) % length] != EMPTY)
            return false;
    return true;
}

// in even steps to the left only, in odd ones to the right, so that none meet
extern "C" __global__ void change_lanes(const signed char *road, signed char *out, int length, int step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= length)
        return;
    const signed char *from = road + (step % 2) * length, *to = road + (1 - step % 2) * length;
    signed char *out_from = out + (step % 2) * length, *out_to = out + (1 - step % 2) * length;
    signed char mine = from[x], other = to[x];
    if (mine != EMPTY && other == EMPTY) {
        int wanted = min(mine + 1, VMAX);
        if (gap_ahead(from, x, length, wanted) < wanted && gap_ahead(to, x, length, wanted) >= wanted &&
            free_behind(to, x, length)) {
            out_from[x] = EMPTY;
            out_to[x] = mine;
            return;
        }
    }
    out_from[x] = mine;
    out_to[x] = other;
}

extern "C" __global__ void clear_road(signed char *road, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells)
        road[i] = EMPTY;
}

extern "C" __global__ void drive(const signed char *road, signed char *next, int *flow, int length, int step,
                                 unsigned int dawdle) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, lane = blockIdx.y;
    if (x >= length)
        return;
    int v = road[lane * length + x];
    if (v == EMPTY)
        return;
    if (v < VMAX)
        v++;
    v = min(v, gap_ahead(road + lane * length, x, length, v));
    if (v > 0 && hash((step * 2 + lane) * 1000003u + x) < dawdle)
        v--;
    if (x + v >= length)
        atomicAdd(&flow[lane], 1);
    next[lane * length + (x + v) % length] = v;
}

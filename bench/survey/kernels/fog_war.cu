// Fog of war on a map of heights: a block for each unit, threads walk lines (Bresenham) to the border of its circle and
// set bits of the cells they see, by team, until something is higher than the line; then fog is faded where nobody looks.
struct Unit {
    short x, y;
    unsigned char range, team, eye, flying;
};

__device__ __forceinline__ void mark(unsigned *seen, int words, int x, int y) {
    unsigned bit = 1u << (x & 31);
    unsigned *word = &seen[y * words + (x >> 5)];
    if (!(*(volatile unsigned *)word & bit))
        atomicOr(word, bit);
}

extern "C" __global__ void fog_look(const Unit *__restrict__ units, const unsigned char *__restrict__ heights,
                                    unsigned *seen, int w, int h) {
    const Unit unit = units[blockIdx.x];
    const int words = (w + 31) / 32;
    seen += unit.team * h * words;
    const int r = unit.range;
    const int eye = heights[unit.y * w + unit.x] + unit.eye;
    if (threadIdx.x == 0)
        mark(seen, words, unit.x, unit.y);
    // the border of a square around, each cell of it a line's end
    for (int k = threadIdx.x; k < 8 * r; k += blockDim.x) {
        int side = k / (2 * r), along = k % (2 * r) - r;
        int ex, ey;
        switch (side) {
        case 0:
            ex = along, ey = -r;
            break;
        case 1:
            ex = r, ey = along;
            break;
        case 2:
            ex = -along, ey = r;
            break;
        default:
            ex = -r, ey = -along;
            break;
        }
        const int dx = abs(ex), dy = abs(ey), sx = ex < 0 ? -1 : 1, sy = ey < 0 ? -1 : 1;
        int error = dx - dy, x = 0, y = 0, steps = 0;
        int steepest = -100000;  // slope in 1/256 of the highest thing so far
        while (true) {
            int twice = 2 * error;
            if (twice > -dy) {
                error -= dy;
                x += sx;
            }
            if (twice < dx) {
                error += dx;
                y += sy;
            }
            steps++;
            if (x * x + y * y > r * r)
                break;
            int mx = unit.x + x, my = unit.y + y;
            if (mx < 0 || my < 0 || mx >= w || my >= h)
                break;
            int slope = (heights[my * w + mx] - eye) * 256 / steps;
            if (unit.flying || slope >= steepest) {
                mark(seen, words, mx, my);
                steepest = max(steepest, slope);
            }
        }
    }
}

extern "C" __global__ void fog_fade(const unsigned *__restrict__ seen, unsigned char *fog, int *explored, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, team = blockIdx.z;
    const int words = (w + 31) / 32;
    bool fresh = false;
    if (x < w && y < h) {
        unsigned char &cell = fog[(team * h + y) * w + x];
        bool looked = seen[(team * h + y) * words + (x >> 5)] >> (x & 31) & 1;
        fresh = looked && cell == 0;
        if (looked)
            cell = 255;
        else if (cell > 96)
            cell = max(96, cell - 32);
    }
    int count = __syncthreads_count(fresh);
    if (threadIdx.x == 0 && threadIdx.y == 0 && count)
        atomicAdd(&explored[team], count);
}

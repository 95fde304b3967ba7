// Nearest patches of one picture in another (PatchMatch): a field of random places, then rounds in which red and black
// pixels by turns try their neighbours' places and random ones at halving distances.
#define RADIUS 3

struct Picture {
    const uchar4 *pixels;
    int w, h;
};

__device__ __forceinline__ unsigned int wang(unsigned int s) {
    s = (s ^ 61u) ^ (s >> 16);
    s *= 9u;
    s = s ^ (s >> 4);
    s *= 0x27d4eb2du;
    return s ^ (s >> 15);
}

__device__ unsigned int patch_distance(const Picture &a, const Picture &b, int ax, int ay, int bx, int by,
                                       unsigned int limit) {
    unsigned int sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        int ya = min(max(ay + dy, 0), a.h - 1), yb = min(max(by + dy, 0), b.h - 1);
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            uchar4 p = a.pixels[ya * a.w + min(max(ax + dx, 0), a.w - 1)];
            uchar4 q = b.pixels[yb * b.w + min(max(bx + dx, 0), b.w - 1)];
            int r = p.x - q.x, g = p.y - q.y, l = p.z - q.z;
            sum += r * r + g * g + l * l;
        }
        if (sum >= limit)
            return limit;
    }
    return sum;
}

extern "C" __global__ void pm_init(const uchar4 *a, const uchar4 *b, int2 *field, unsigned int *distance, int aw, int ah,
                                   int bw, int bh, unsigned int seed) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= aw || y >= ah)
        return;
    Picture pa = {a, aw, ah}, pb = {b, bw, bh};
    unsigned int r = wang(seed + y * aw + x);
    int2 at = make_int2(r % bw, wang(r) % bh);
    field[y * aw + x] = at;
    distance[y * aw + x] = patch_distance(pa, pb, x, y, at.x, at.y, 0xffffffffu);
}

extern "C" __global__ void pm_round(const uchar4 *a, const uchar4 *b, int2 *field, unsigned int *distance, int aw,
                                    int ah, int bw, int bh, unsigned int seed, int color) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    x = 2 * x + ((y + color) & 1);
    if (x >= aw || y >= ah)
        return;
    Picture pa = {a, aw, ah}, pb = {b, bw, bh};
    int2 best = field[y * aw + x];
    unsigned int least = distance[y * aw + x];
    const int2 steps[4] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int nx = x + steps[k].x, ny = y + steps[k].y;
        if (nx < 0 || ny < 0 || nx >= aw || ny >= ah)
            continue;
        int2 at = field[ny * aw + nx];
        at.x = min(max(at.x - steps[k].x, 0), bw - 1);
        at.y = min(max(at.y - steps[k].y, 0), bh - 1);
        unsigned int d = patch_distance(pa, pb, x, y, at.x, at.y, least);
        if (d < least) {
            least = d;
            best = at;
        }
    }
    unsigned int r = wang(seed ^ (y * aw + x));
    for (int mag = max(bw, bh) / 2; mag >= 1; mag /= 2) {
        int x0 = max(best.x - mag, 0), x1 = min(best.x + mag, bw - 1);
        int y0 = max(best.y - mag, 0), y1 = min(best.y + mag, bh - 1);
        r = wang(r);
        int tx = x0 + r % (x1 - x0 + 1);
        r = wang(r);
        int ty = y0 + r % (y1 - y0 + 1);
        unsigned int d = patch_distance(pa, pb, x, y, tx, ty, least);
        if (d < least) {
            least = d;
            best = make_int2(tx, ty);
        }
    }
    field[y * aw + x] = best;
    distance[y * aw + x] = least;
}

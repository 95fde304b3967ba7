// Moving things in a film of a fixed camera, four grey pixels a word by the SIMD intrinsics for video: a background
// that follows slowly, a threshold that follows the noise, and a mask that is opened by its row neighbours.
#include <cstdint>

struct Model {
    uint32_t background, spread;
};

extern "C" __global__ void bg_update(const uint32_t *__restrict__ frames, uint32_t *background, uint32_t *spread,
                                     uint32_t *__restrict__ mask, unsigned *moving, int words, int turn) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hits = 0;
    if (i < words) {
        uint32_t now = frames[(size_t)turn * words + i];
        Model m = {background[i], spread[i]};
        uint32_t change = __vabsdiffu4(now, m.background);
        uint32_t limit = __vmaxu4(__vaddus4(m.spread, m.spread), 0x0c0c0c0cu);
        uint32_t out = __vcmpgtu4(change, limit);
        // Up or down by one where the picture is still; the spread goes towards four times the change.
        uint32_t up = __vminu4(__vsubus4(now, m.background), 0x01010101u) & ~out;
        uint32_t down = __vminu4(__vsubus4(m.background, now), 0x01010101u) & ~out;
        m.background = __vsub4(__vadd4(m.background, up), down);
        if (turn & 1)
            m.spread = __vavgu4(m.spread, __vminu4(__vaddus4(__vaddus4(change, change), change), 0x7f7f7f7fu) & ~out);
        background[i] = m.background;
        spread[i] = m.spread;
        mask[i] = out;
        hits = __vsadu4(out & 0x01010101u, 0);
    }
    hits = __reduce_add_sync(0xffffffffu, hits);
    if (threadIdx.x % 32 == 0 && hits)
        atomicAdd(&moving[turn], hits);
}

__device__ uint32_t three(uint32_t left, uint32_t here, uint32_t right, bool both) {
    uint32_t l = __byte_perm(left, here, 0x6543), r = __byte_perm(here, right, 0x4321);
    return both ? __vminu4(here, __vminu4(l, r)) : __vmaxu4(here, __vmaxu4(l, r));
}

extern "C" __global__ void bg_open(const uint32_t *__restrict__ mask, uint32_t *__restrict__ opened, int width,
                                   int height, int dilates, int slice) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    bool erodes = !dilates;
    uint32_t sum = erodes ? 0xffffffffu : 0;
#pragma unroll
    for (int d = -1; d <= 1; d++) {
        int row = min(max(y + d, 0), height - 1) * width;
        uint32_t left = mask[row + max(x - 1, 0)], right = mask[row + min(x + 1, width - 1)];
        uint32_t v = three(left, mask[row + x], right, erodes);
        sum = erodes ? __vminu4(sum, v) : __vmaxu4(sum, v);
    }
    opened[((size_t)slice * height + y) * width + x] = sum;
}

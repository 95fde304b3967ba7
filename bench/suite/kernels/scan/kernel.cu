// Inclusive prefix sums in one pass: each warp adds up its tile, and looks back at what those before it have come to.
#include "dialect.h"
#ifdef __OPENCL_VERSION__
#error "OpenCL 1.2 has no warp shuffles"
#endif

#define ROWS 4 // uint4s of a thread
#define ALL 0xffffffffu
enum { NOTHING, OWN_SUM, ALL_SUMS };

// What a tile tells others is one word, so that nobody sees half of it: how far it is, and a sum.
typedef unsigned long long word;
#define WORD(state, sum) ((word)(state) << 32 | (sum))
#define STATE(found) ((uint)((found) >> 32))

KERNEL void clear_tiles(GLOBAL word *tiles)
{
    tiles[INDEX_X] = WORD(NOTHING, 0);
}

// The sum of `value` over the threads of the warp up to this one.
DEVICE uint warp_sums(uint value, int lane)
{
    UNROLL for (int s = 1; s < 32; s <<= 1) {
        uint before = __shfl_up_sync(ALL, value, s);
        value += lane >= s ? before : 0;
    }
    return value;
}

// The sum of all tiles before `end`, the last of which has no more than its own sum yet: 32 tiles at a time.
DEVICE uint look_far_back(GLOBAL volatile word *tiles, int end, int lane)
{
    uint before = 0, complete;
    do {
        int at = end - 1 - lane;
        word found;
        do
            found = at >= 0 ? tiles[at] : WORD(ALL_SUMS, 0);
        while (__any_sync(ALL, STATE(found) == NOTHING));
        complete = __ballot_sync(ALL, STATE(found) == ALL_SUMS);
        int last = complete ? __ffs(complete) - 1 : 31;
        uint sums = warp_sums(lane <= last ? (uint)found : 0, lane);
        before += __shfl_sync(ALL, sums, 31);
        end -= 32;
    } while (!complete);
    return before;
}

// The sum of all tiles before this one. Tells the others of this one's.
DEVICE uint look_back(GLOBAL volatile word *tiles, int tile, uint sum, int lane)
{
    uint before = 0;
    if (tile > 0) {
        tiles[tile] = WORD(OWN_SUM, sum);
        word found = tiles[tile - 1];
        before = STATE(found) == ALL_SUMS ? (uint)found : look_far_back(tiles, tile, lane);
    }
    tiles[tile] = WORD(ALL_SUMS, before + sum);
    return before;
}

// CTAs begin in order, so that the tiles before a tile are done or being worked on.
KERNEL void scan(GLOBAL const uint4 *x, GLOBAL uint4 *out, GLOBAL word *tiles)
{
    int lane = THREAD_X, tile = BLOCK_X * BLOCK_SIZE_Y + THREAD_Y, i = tile * ROWS * 32 + lane;
    uint sum = 0;
    uint4 v[ROWS];
    UNROLL for (int k = 0; k < ROWS; k++)
        v[k] = x[i + 32 * k];
    UNROLL for (int k = 0; k < ROWS; k++) {
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        uint here = warp_sums(v[k].w, lane), before = sum + here - v[k].w;
        v[k].x += before;
        v[k].y += before;
        v[k].z += before;
        v[k].w += before;
        sum += __shfl_sync(ALL, here, 31);
    }
    uint before = look_back(tiles, tile, sum, lane);
    UNROLL for (int k = 0; k < ROWS; k++) {
        v[k].x += before;
        v[k].y += before;
        v[k].z += before;
        v[k].w += before;
        out[i + 32 * k] = v[k];
    }
}

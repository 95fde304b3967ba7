// Pairs of each far step are shared out among threads (two, or another power of two), and blocks of 512 elements.
#define run on_one
#include "spmd.c"
#undef run
#include "threads.h"

static uint *all;
static uint size;

// The thread's part of a far step: of the blocks, or of the only one's pairs.
static void far_part(uint thread, uint threads, uint distance, uint width)
{
    uint share = size / threads;
    if (2 * distance <= share) {
        far_step(all, thread * share, share, distance, width);
        return;
    }
    uint pairs = share / 2, first = thread * pairs, start = first / distance * 2 * distance + first % distance;
    for (uint i = start; i < start + pairs; i += 16) {
        uvec a = ULOAD(all + i), b = ULOAD(all + i + distance);
        int up = (i & width) == 0;
        USTORE(all + i, up ? smaller(a, b) : larger(a, b));
        USTORE(all + i + distance, up ? larger(a, b) : smaller(a, b));
    }
}

static void part(int thread, int threads)
{
    uint share = size / threads, first = thread * share;
    for (uint width = 2; width <= size; width <<= 1) {
        uint distance = width / 2;
        for (; distance >= 512; distance >>= 1) {
            far_part(thread, threads, distance, width);
            meet();
        }
        for (uint start = first; start < first + share; start += 512)
            for (uint near = distance; near > 0; near >>= 1)
                if (near >= 16)
                    far_step(all, start, 512, near, width);
                else
                    near_step(all, start, near, width);
        meet();
    }
}

void run(int threads, uint *data, uint n)
{
    all = data, size = n;
    on_threads(threads);
}

// The same network by registers: far exchanges between two, near ones within one; 512 elements at a time
// for the near steps, as the CUDA version does.
#include "native.h"

static inline uvec smaller(uvec a, uvec b) { return USELECT(a < b, a, b); }
static inline uvec larger(uvec a, uvec b) { return USELECT(a < b, b, a); }

static inline void far_step(uint *data, uint first, uint count, uint distance, uint width)
{
    for (uint start = first; start < first + count; start += 2 * distance)
        for (uint i = start; i < start + distance; i += 16) {
            uvec a = ULOAD(data + i), b = ULOAD(data + i + distance);
            uvec low = smaller(a, b), high = larger(a, b);
            int up = (start & width) == 0;
            USTORE(data + i, up ? low : high);
            USTORE(data + i + distance, up ? high : low);
        }
}

static inline void near_step(uint *data, uint first, uint distance, uint width)
{
    uvec lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (uint i = first; i < first + 512; i += 16) {
        uvec a = ULOAD(data + i), b = __builtin_shuffle(a, lane ^ distance);
        ivec up = ((lane + i) & width) == 0, first_of_two = (lane & distance) == 0;
        USTORE(data + i, USELECT(up == first_of_two, smaller(a, b), larger(a, b)));
    }
}

void run(uint *restrict data, uint n)
{
    for (uint width = 2; width <= n; width <<= 1) {
        uint distance = width / 2;
        for (; distance >= 512; distance >>= 1)
            far_step(data, 0, n, distance, width);
        for (uint start = 0; start < n; start += 512)
            for (uint near = distance; near > 0; near >>= 1)
                if (near >= 16)
                    far_step(data, start, 512, near, width);
                else
                    near_step(data, start, near, width);
    }
}

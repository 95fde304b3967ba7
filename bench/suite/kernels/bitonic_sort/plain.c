// The same network, one exchange after the other.
#include "native.h"

void run(uint *restrict data, uint n)
{
    for (uint width = 2; width <= n; width <<= 1)
        for (uint distance = width / 2; distance > 0; distance >>= 1)
            for (uint start = 0; start < n; start += 2 * distance)
                for (uint i = start; i < start + distance; i++) {
                    uint a = data[i], b = data[i + distance];
                    uint low = a < b ? a : b, high = a < b ? b : a;
                    int up = (start & width) == 0;
                    data[i] = up ? low : high;
                    data[i + distance] = up ? high : low;
                }
}

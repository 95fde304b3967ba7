// One pass: prefix sums within a register by four shifts and adds.
#include "native.h"

static inline uvec shifted(uvec v, int by)
{
    uvec zero = {0}, from;
    for (int l = 0; l < 16; l++)
        from[l] = l < by ? 16 : l - by;
    return __builtin_shuffle(v, zero, from);
}

void run(const uint *restrict x, uint *restrict out, int n)
{
    uint sum = 0;
    for (int i = 0; i < n; i += 16) {
        uvec v = ULOAD(x + i);
        v += shifted(v, 1);
        v += shifted(v, 2);
        v += shifted(v, 4);
        v += shifted(v, 8);
        USTORE(out + i, v + sum);
        sum += v[15];
    }
}

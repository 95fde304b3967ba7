#include "native.h"

void run(const uint *restrict x, uint *restrict out, int n)
{
    uint sum = 0;
    for (int i = 0; i < n; i++)
        out[i] = sum += x[i];
}

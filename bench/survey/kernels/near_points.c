#include "native.h"

void run(const float *restrict points, uint *restrict index, float *restrict distance, uint *restrict count, int n,
         float range, float ground, float dark) {
    uint found = *count;
    for (int i = 0; i < n; i++) {
        const float *p = points + 4 * i;
        float d = sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        index[found] = i;
        distance[found] = d;
        found += (d < range) & (p[2] > ground) & (p[3] > dark);
    }
    if (found < n)
        index[found] = distance[found] = 0; // what the last turn left there
    *count = found;
}

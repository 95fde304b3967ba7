#include "native.h"

typedef struct {
    float lo[3], hi[3];
} Aabb;

void run(const Aabb *restrict tight, const float *restrict velocity, const uint *restrict order,
         const uint *restrict filter, Aabb *restrict fat, ull *restrict pairs, uint *restrict pair_count, int n,
         uint capacity, float margin, float dt, float slack) {
    for (int i = 0; i < n; i++) {
        Aabb b = tight[order[i]];
        const float *v = velocity + 3 * order[i];
        for (int k = 0; k < 3; k++) {
            float d = v[k] * dt;
            b.lo[k] += (d < 0 ? d : 0) - margin;
            b.hi[k] += (d > 0 ? d : 0) + margin;
        }
        fat[i] = b;
    }
    uint count = 0;
    for (int i = 0; i < n; i++) {
        Aabb a = fat[i];
        uint ida = order[i], group = filter[2 * ida], mask = filter[2 * ida + 1];
        float end = a.hi[0] + slack;
        for (int j = i + 1; j < n && fat[j].lo[0] <= end; j++) {
            const Aabb *b = fat + j;
            if ((b->lo[0] <= a.hi[0]) & (a.lo[0] <= b->hi[0]) & (a.lo[1] <= b->hi[1]) & (b->lo[1] <= a.hi[1]) &
                (a.lo[2] <= b->hi[2]) & (b->lo[2] <= a.hi[2])) {
                uint idb = order[j];
                if ((group & filter[2 * idb + 1]) && (filter[2 * idb] & mask)) {
                    if (count < capacity)
                        pairs[count] = (ull)MIN(ida, idb) << 32 | (ida > idb ? ida : idb);
                    count++;
                }
            }
        }
    }
    *pair_count = count;
}

#include "native.h"

typedef struct {
    _Float16 scale;
    uchar pairs[16];
} Group;

void run(const Group *restrict groups, float *restrict out, int n) {
    for (int g = 0; g < n / 32; g++) {
        float scale = groups[g].scale;
        for (int i = 0; i < 16; i++) {
            out[32 * g + i] = ((groups[g].pairs[i] & 15) - 8) * scale;
            out[32 * g + 16 + i] = ((groups[g].pairs[i] >> 4) - 8) * scale;
        }
    }
}

#include "native.h"

static inline float wide(uint16_t v) {
    uint b = (uint)v << 16;
    float f;
    memcpy(&f, &b, 4);
    return f;
}

static inline uint16_t narrow(float f) {
    uint b;
    memcpy(&b, &f, 4);
    return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

void run(const uint16_t *restrict gate, const uint16_t *restrict up, uint16_t *restrict out, int n) {
#pragma omp simd
    for (int i = 0; i < 2 * n; i++) {
        float g = wide(gate[i]);
        out[i] = narrow(g / (1 + expf(-g)) * wide(up[i]));
    }
}

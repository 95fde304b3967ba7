// rANS with 32 interleaved states, chunk by chunk.
#include "native.h"
enum { BITS = 12, SCALE = 1 << BITS };

void run(const uint16_t *restrict freqs, const uint *restrict states, const uint16_t *restrict words,
         const uint *restrict word_start, uchar *restrict out, int chunks, int steps) {
    uint table[SCALE];
    for (uint s = 0, at = 0; s < 256; s++)
        for (uint k = 0; k < freqs[s]; k++)
            table[at++] = s | (uint)freqs[s] << 8 | k << 20;
    for (int c = 0; c < chunks; c++) {
        uint x[32];
        memcpy(x, states + 32 * c, sizeof x);
        const uint16_t *from = words + word_start[c];
        uchar *to = out + (size_t)c * steps * 32;
        for (int step = 0; step < steps; step++, to += 32) {
            uint next[32];
#pragma omp simd
            for (int lane = 0; lane < 32; lane++) {
                uint slot = table[x[lane] & (SCALE - 1)];
                next[lane] = (slot >> 8 & 0xfff) * (x[lane] >> BITS) + (slot >> 20);
                to[lane] = slot;
            }
            // Without a branch: which lanes need words is hard to foresee.
            for (int lane = 0; lane < 32; lane++) {
                uint more = next[lane] < 1u << 16;
                x[lane] = more ? next[lane] << 16 | *from : next[lane];
                from += more;
            }
        }
    }
}

#include "native.h"
#define MIX x[0] += x[1] * 2654435761u; x[1] ^= x[0] >> 15; x[2] += x[0] ^ x[3]; { uint r = x[3] ^ x[2]; x[3] = r << 7 | r >> 25; }
void run(const uint *restrict in, uint *restrict out, uint *restrict pad, int n, int places) {
    for (int t = 0; t < n; t++) {
        uint x[4], *v = pad + (size_t)t * places * 4;
        memcpy(x, in + t * 4, 16);
        for (int i = 0; i < places; i++) { memcpy(v + 4 * i, x, 16); MIX }
        for (int i = 0; i < places; i++) {
            uint *y = v + 4 * (x[3] & (places - 1));
            for (int k = 0; k < 4; k++) x[k] ^= y[k];
            MIX
        }
        memcpy(out + 4 * t, x, 16);
    }
}

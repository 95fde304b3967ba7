#include "native.h"

void run(ull *restrict hits, int threads, int per) {
    ull t = 0;
    for (int i0 = 0; i0 < threads; i0 += 64) {
        int c[64] = {0};
        uint s[64];
        for (int j = 0; j < 64; j++)
            s[j] = (i0 + j) * 747796405u + 1u;
        for (int k = 0; k < per; k++)
            for (int j = 0; j < 64; j++) {
                s[j] = s[j] * 1664525u + 1013904223u;
                float x = (int)(s[j] >> 8) * (1.0f / 16777216);
                s[j] = s[j] * 1664525u + 1013904223u;
                float y = (int)(s[j] >> 8) * (1.0f / 16777216);
                c[j] += x * x + y * y < 1.0f;
            }
        for (int j = 0; j < 64; j++)
            t += c[j];
    }
    *hits = t;
}

#include "native.h"

typedef struct {
    float x, y, z, w;
} float4;

void run(const float4 *restrict boxes, ull *restrict mask, int n, float threshold) {
    int words = (n + 63) / 64;
    for (int me = 0; me < n; me++) {
        float4 a = boxes[me];
        float area = (a.z - a.x) * (a.w - a.y);
        for (int column = 0; column < words; column++) {
            int columns = MIN(n - column * 64, 64);
            ull bits = 0;
            for (int i = me / 64 == column ? me % 64 + 1 : 0; i < columns; i++) {
                float4 b = boxes[column * 64 + i];
                float w = fmaxf(fminf(a.z, b.z) - fmaxf(a.x, b.x), 0.0f);
                float h = fmaxf(fminf(a.w, b.w) - fmaxf(a.y, b.y), 0.0f);
                float both = w * h;
                bits |= (ull)(both > threshold * (area + (b.z - b.x) * (b.w - b.y) - both)) << i;
            }
            mask[(long)me * words + column] = bits;
        }
    }
}

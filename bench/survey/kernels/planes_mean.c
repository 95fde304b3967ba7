#include "native.h"
#define W 28

void run(const float *restrict in, float *restrict out, int n) {
    for (int plane = 0; plane < n / (W * W); plane++)
        for (int y = 0; y < W; y++)
            for (int x = 0; x < W; x++) {
                float sum = 0;
                for (int dy = 0; dy < 3; dy++)
                    for (int dx = 0; dx < 3; dx++)
                        sum += in[(plane * (W + 2) + y + dy) * (W + 2) + x + dx];
                out[(plane * W + y) * W + x] = sum / 9;
            }
}

#include "native.h"

void run(const uchar *restrict in, uchar *restrict out, int n) {
    uint counts[256] = {0};
    uchar table[256];
    float cdf[256], sum = 0;
    for (int i = 0; i < n; i++)
        counts[in[i]]++;
    for (int i = 0; i < 256; i++)
        cdf[i] = sum += counts[i] / (float)n;
    for (int i = 0; i < 256; i++)
        table[i] = (uchar)fminf(fmaxf(255.0f * (cdf[i] - cdf[0]) / (1.0f - cdf[0]), 0.0f), 255.0f);
    for (int i = 0; i < n; i++)
        out[i] = table[in[i]];
}

#include "native.h"

void run(const uchar *restrict e, const float *restrict c, const float *restrict s, int *restrict votes, int w, int h, int angles, int bins) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (e[y * w + x])
                for (int k = 0; k < angles; k++)
                    votes[k * bins + (int)fmaf(x, c[k], y * s[k]) + bins / 2]++;
}

#include "native.h"

void run(uchar *restrict out, int n) {
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float r = 1.5f * (n / 2 - x) / (n / 2), i = 1.5f * (n / 2 - y) / (n / 2);
            int stays = 1;
            for (int k = 0; k < 200; k++) {
                float t = r * r - i * i - 0.8f;
                i = 2 * r * i + 0.156f;
                r = t;
                if (r * r + i * i > 1000) {
                    stays = 0;
                    break;
                }
            }
            unsigned char *p = out + 4 * (y * n + x);
            p[0] = 255 * stays;
            p[1] = p[2] = 0;
            p[3] = 255;
        }
}

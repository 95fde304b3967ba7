#include "native.h"

void run(float *restrict d, int n) {
    for (int m = 0; m < n; m += 1024) {
        float *s = d + m;
        for (int h = 1; h < 1024; h *= 2)
            for (int i = 0; i < 1024; i += 2 * h)
                for (int j = i; j < i + h; j++) {
                    float a = s[j], b = s[j + h];
                    s[j] = a + b;
                    s[j + h] = a - b;
                }
    }
}

#include "native.h"

static int cmp(const void *a, const void *b) {
    int x = *(int *)a, y = *(int *)b;
    return (x > y) - (x < y);
}

void run(int *restrict a, int blocks) {
    for (int b = 0; b < blocks; b++) {
        int *s = a + b * 1024;
        for (int size = 2; size <= 1024; size *= 2) {
            int st = size / 2;
            for (int i = 0; i < 1024; i += 2 * st)
                for (int j = i; j < i + st; j++) {
                    int x = s[j], y = s[j + st];
                    s[j] = MIN(x, y);
                    s[j + st] = MAX(x, y);
                }
            for (st /= 2; st > 0; st /= 2)
                for (int g = 0; g < 1024; g += size)
                    for (int i = g + st; i + st < g + size; i += 2 * st)
                        for (int j = i; j < i + st; j++) {
                            int x = s[j], y = s[j + st];
                            s[j] = MIN(x, y);
                            s[j + st] = MAX(x, y);
                        }
        }
    }
}

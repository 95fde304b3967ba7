#include "native.h"

void run(int *restrict o, int n) {
    for (int i = 0; i < n; i++) {
        ull v = i + 1;
        int c = 0;
        while (v != 1) {
            v = v & 1 ? 3 * v + 1 : v / 2;
            c++;
        }
        o[i] = c;
    }
}

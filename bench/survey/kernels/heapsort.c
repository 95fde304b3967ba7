#include "native.h"

void run(const int *restrict in, int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int h[32];
        for (int k = 0; k < 32; k++)
            h[k] = in[k * n + i];
        for (int turn = 47; turn > 0; turn--) {
            int root = turn > 31 ? turn - 32 : 0, end = turn > 31 ? 32 : turn, value = h[root];
            if (turn <= 31) {
                value = h[turn];
                h[turn] = h[0];
            }
            for (int child = 2 * root + 1; child < end; child = 2 * root + 1) {
                if (child + 1 < end && h[child + 1] > h[child])
                    child++;
                if (value >= h[child])
                    break;
                h[root] = h[child];
                root = child;
            }
            h[root] = value;
        }
        for (int k = 0; k < 32; k++)
            out[k * n + i] = h[k];
    }
}

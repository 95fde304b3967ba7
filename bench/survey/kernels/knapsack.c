#include "native.h"

void run(int *restrict a, int *restrict b, const int *restrict weight, const int *restrict value, int items,
         int capacity) {
    int *in = a, *out = b;
    for (int i = 0; i < items; i++) {
        memcpy(out, in, sizeof(int) * MIN(weight[i], capacity + 1));
        for (int w = weight[i]; w <= capacity; w++)
            out[w] = MAX(in[w], in[w - weight[i]] + value[i]);
        int *t = in;
        in = out;
        out = t;
    }
}

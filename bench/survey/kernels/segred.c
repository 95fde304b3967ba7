#include "native.h"

void run(const float *restrict v, const int *restrict key, float *restrict out, int n) {
    for (int i = 0; i < n;) {
        int k = key[i];
        float s = 0;
        while (i < n && key[i] == k)
            s += v[i++];
        out[k] += s;
    }
}

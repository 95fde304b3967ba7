#include "native.h"

void run(const float *restrict in, float *restrict out, int parts) {
    for (int b = 0; b < parts; b++) {
        float s = 0;
        for (int i = b * 512; i < b * 512 + 512; i++) {
            out[i] = s;
            s += in[i];
        }
    }
}

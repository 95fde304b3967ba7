#include "native.h"

void run(const uchar *restrict bytes, const int *restrict starts, uint *restrict out, int blocks) {
    for (int b = 0; b < blocks; b++) {
        const uchar *p = bytes + starts[b];
        uint value = 0;
        for (int k = 0; k < 32; k++) {
            uint delta = 0, shift = 0, c;
            do {
                c = *p++;
                delta |= (c & 127) << shift;
                shift += 7;
            } while (c & 128);
            value += delta;
            out[b * 32 + k] = value;
        }
    }
}

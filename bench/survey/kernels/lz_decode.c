#include "native.h"

void run(const uchar *in, const int *starts, uchar *out, int size, int blocks) {
    for (int b = 0; b < blocks; b++) {
        const uchar *p = in + starts[b], *end = in + starts[b + 1];
        uchar *o = out + b * size;
        while (p < end) {
            int token = *p++;
            if (token < 128) {
                for (int k = 0; k <= token; k++)
                    *o++ = *p++;
            } else {
                int distance = *p++, length = token - 128 + 3;
                for (int k = 0; k < length; k++, o++)
                    *o = o[-distance];
            }
        }
    }
}

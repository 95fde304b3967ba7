#include "native.h"

void run(const int *restrict in, int *restrict out, int *restrict again, int parts) {
    for (int k = 0; k < 2; k++)
        for (int b = 0; b < parts; b++) {
            int s = 0;
            for (int i = 0; i < 256; i++)
                s += in[b * 256 + i];
            (k ? again : out)[b] = s;
        }
}

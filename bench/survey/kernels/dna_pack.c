#include "native.h"

void run(const char *restrict bases, uint *restrict packed, int words) {
    for (int i = 0; i < words; i++) {
        uint word = 0;
        for (int k = 0; k < 16; k++)
            word |= (uint)(bases[i * 16 + k] >> 1 & 3) << (2 * k);
        packed[i] = word;
    }
}

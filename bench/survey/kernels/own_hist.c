#include "native.h"

void run(const uchar *restrict data, int *restrict tables, int threads, int length) {
    for (int t = 0; t < threads; t++)
        for (int i = 0; i < length; i++)
            tables[t * 16 + (data[t * length + i] >> 4)]++;
}

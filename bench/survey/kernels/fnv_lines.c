#include "native.h"

void run(const uchar *restrict records, uint *restrict hashes, int count, int length) {
    for (int i = 0; i < count; i++) {
        uint h = 2166136261u;
        for (int k = 0; k < length; k++)
            h = (h ^ records[i * length + k]) * 16777619u;
        hashes[i] = h;
    }
}

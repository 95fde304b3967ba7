#include "native.h"

#define SEGMENT 16384

void run(const int *restrict primes, int *restrict found, int count, int segments) {
    static uchar struck[SEGMENT];
    for (int s = 0; s < segments; s++) {
        long long low = (long long)(s + 1) * SEGMENT;
        memset(struck, 0, SEGMENT);
        for (int k = 0; k < count; k++) {
            int p = primes[k];
            for (int j = (int)((p - low % p) % p); j < SEGMENT; j += p)
                struck[j] = 1;
        }
        int total = 0;
        for (int i = 0; i < SEGMENT; i++)
            total += !struck[i];
        found[s] = total;
    }
}

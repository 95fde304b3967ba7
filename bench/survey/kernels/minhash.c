#include "native.h"

void run(const uchar *restrict reads, const uint *restrict offsets, uint64_t *restrict sketch, uint *restrict seen,
         int n, int k, int bucket_bits) {
    static signed char code_of[256];
    memset(code_of, -1, sizeof code_of);
    for (int c = 0; c < 4; c++)
        code_of[(uchar) "ACGT"[c]] = code_of[(uchar) "acgt"[c]] = c;
    uint64_t mask = (1ull << 2 * k) - 1;
    for (int r = 0; r < n; r++) {
        uint64_t forward = 0, reverse = 0;
        int length = 0;
        for (uint i = offsets[r]; i < offsets[r + 1]; i++) {
            int code = code_of[reads[i]];
            if (code < 0) {
                length = 0;
                continue;
            }
            forward = (forward << 2 | code) & mask;
            reverse = reverse >> 2 | (uint64_t)(3 - code) << 2 * (k - 1);
            if (++length < k)
                continue;
            uint64_t x = MIN(forward, reverse);
            x ^= x >> 33;
            x *= 0xff51afd7ed558ccdull;
            x ^= x >> 33;
            x *= 0xc4ceb9fe1a85ec53ull;
            x ^= x >> 33;
            uint bucket = x >> (64 - bucket_bits);
            if (x < sketch[bucket])
                sketch[bucket] = x;
            seen[bucket]++;
        }
    }
}

// Minimizers: many places side by side, both for the k-mers and for the windows.
#include "native.h"
enum { W = 64 };

static inline uint mix(uint key, uint mask) {
    key = (~key + (key << 21)) & mask;
    key ^= key >> 14;
    key = (key + (key << 3) + (key << 8)) & mask;
    key ^= key >> 12;
    key = (key + (key << 2) + (key << 4)) & mask;
    key ^= key >> 15;
    return (key + (key << 19)) & mask;
}

void run(const char *restrict bases, const int *restrict starts, ull *restrict found, int *restrict total, int k,
         int w, int most, int reads) {
    uchar code_of[32];
    memset(code_of, 4, 32);
    code_of['A' & 31] = 0, code_of['C' & 31] = 1, code_of['G' & 31] = 2, code_of['T' & 31] = 3;
    int longest = 0, count = 0;
    for (int r = 0; r < reads; r++)
        longest = MAX(longest, starts[r + 1] - starts[r]);
    long room = longest + k + w + W;
    uint *code = calloc(3 * room, sizeof *code), *hashes = code + room, mask = (1u << 2 * k) - 1;
    int *places = (int *)(hashes + room);
    for (int r = 0; r < reads; r++) {
        int start = starts[r], length = starts[r + 1] - start, kmers = length - k + 1, windows = kmers - w + 1;
        if (windows <= 0)
            continue;
        for (int i = 0; i < length; i++)
            code[i] = code_of[bases[start + i] & 31];
        for (int first = 0; first < kmers; first += W) {  // past the last up to W - 1 more, which nobody reads
            uint forward[W] = {0}, backward[W] = {0}, wrong[W] = {0};
            for (int j = 0; j < k; j++)
#pragma omp simd
                for (int i = 0; i < W; i++) {
                    uint c = code[first + i + j];
                    wrong[i] |= c >> 2;
                    forward[i] = forward[i] << 2 | c & 3;
                    backward[i] = backward[i] >> 2 | (3 - (c & 3)) << 2 * (k - 1);
                }
#pragma omp simd
            for (int i = 0; i < W; i++) {
                uint h = mix(MIN(forward[i], backward[i]), mask);
                hashes[first + i] = wrong[i] | (forward[i] == backward[i]) ? ~0u : h;
            }
        }
        for (int first = 0; first < windows; first += W) {
            uint best[W];
            int where[W];
            memset(best, 255, sizeof best);
            memset(where, 255, sizeof where);
            for (int j = 0; j < w; j++)
#pragma omp simd
                for (int i = 0; i < W; i++) {
                    uint h = hashes[first + i + j];
                    where[i] = h < best[i] ? first + i + j : where[i];
                    best[i] = MIN(h, best[i]);
                }
            memcpy(places + first, where, sizeof where);
        }
        int before = -1;
        for (int i = 0; i < windows; i++) {
            int where = places[i];
            if (where >= 0 && where != before && count++ < most)
                found[count - 1] = (ull)hashes[where] << 22 | (uint)(start + where);
            before = where;
        }
    }
    *total = count;
    free(code);
}

#include "native.h"
enum { BLOCK_WORDS = 64, SAMPLES = (BLOCK_WORDS / 2 - 1) * 8 + 1, CHUNK = 1024 };

static const short step_sizes[89] = {
    7,    8,    9,    10,   11,   12,   13,   14,   16,   17,    19,    21,    23,    25,    28,    31,    34,   37,
    41,   45,   50,   55,   60,   66,   73,   80,   88,   97,    107,   118,   130,   143,   157,   173,   190,  209,
    230,  253,  279,  307,  337,  371,  408,  449,  494,  544,   598,   658,   724,   796,   876,   963,   1060, 1166,
    1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024,  3327,  3660,  4026,  4428,  4871,  5358,  5894, 6484,
    7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
static const signed char index_steps[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

void run(const uint *restrict blocks, short *restrict pcm, const short *restrict gains, const int *restrict delays,
         short *restrict mixed, int count, int voices, int frames) {
    for (int block = 0; block < count; block++)
        for (int channel = 0; channel < 2; channel++) {
            const uint *in = blocks + (size_t)block * BLOCK_WORDS + channel;
            int sample = (short)in[0], index = MIN((int)(in[0] >> 16 & 255), 88);
            short *out = pcm + (size_t)block * SAMPLES * 2 + channel;
            *out = sample;
            out += 2;
            for (int w = 1; w < BLOCK_WORDS / 2; w++) {
                uint codes = in[2 * w];
                for (int k = 0; k < 8; k++, codes >>= 4, out += 2) {
                    int step = step_sizes[index], diff = step >> 3;
                    diff += codes & 1 ? step >> 2 : 0;
                    diff += codes & 2 ? step >> 1 : 0;
                    diff += codes & 4 ? step : 0;
                    sample += codes & 8 ? -diff : diff;
                    sample = MIN(MAX(sample, -32768), 32767);
                    index = MIN(MAX(index + index_steps[codes & 7], 0), 88);
                    *out = sample;
                }
            }
        }
    memset(mixed, 0, 2 * (size_t)frames * sizeof(short));
    for (int first = 0; first < frames; first += CHUNK)
        for (int v = 0; v < voices; v++) {
            int from = MAX(first, delays[v]), n = MIN(first + CHUNK, frames) - from;
            const short *restrict s = pcm + 2 * ((size_t)v * frames + from - delays[v]);
            short *restrict to = mixed + 2 * (size_t)from;
            int gl = gains[2 * v], gr = gains[2 * v + 1];
#pragma omp simd
            for (int i = 0; i < 2 * n; i++) {
                int sum = to[i] + ((s[i] * (i & 1 ? gr : gl) + (1 << 14)) >> 15);
                to[i] = MIN(MAX(sum, -32768), 32767);
            }
        }
}

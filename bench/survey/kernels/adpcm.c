#include "native.h"
enum { BLOCK_WORDS = 64, SAMPLES = (BLOCK_WORDS / 2 - 1) * 8 + 1, CHUNK = 1024, W = 16 };

static const int step_sizes[89] = {
    7,    8,    9,    10,   11,   12,   13,   14,   16,   17,    19,    21,    23,    25,    28,    31,    34,   37,
    41,   45,   50,   55,   60,   66,   73,   80,   88,   97,    107,   118,   130,   143,   157,   173,   190,  209,
    230,  253,  279,  307,  337,  371,  408,  449,  494,  544,   598,   658,   724,   796,   876,   963,   1060, 1166,
    1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024,  3327,  3660,  4026,  4428,  4871,  5358,  5894, 6484,
    7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};

void run(const uint *restrict blocks, short *restrict pcm, const short *restrict gains, const int *restrict delays,
         short *restrict mixed, int count, int voices, int frames) {
    for (int first = 0; first < 2 * count; first += W) {  // channels side by side
        int lanes = MIN(W, 2 * count - first);
        int sample[W] = {0}, index[W] = {0};
        uint codes[W] = {0};
        for (int l = 0; l < lanes; l++) {
            uint header = blocks[(size_t)(first + l) / 2 * BLOCK_WORDS + l % 2];
            sample[l] = (short)header;
            index[l] = MIN((int)(header >> 16 & 255), 88);
            pcm[(size_t)(first + l) / 2 * SAMPLES * 2 + l % 2] = sample[l];
        }
        for (int w = 1; w < BLOCK_WORDS / 2; w++) {
            short made[8][W];
            for (int l = 0; l < lanes; l++)
                codes[l] = blocks[(size_t)(first + l) / 2 * BLOCK_WORDS + l % 2 + 2 * w];
            for (int k = 0; k < 8; k++)
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    uint code = codes[l];
                    int step = step_sizes[index[l]], diff = step >> 3;
                    diff += code & 1 ? step >> 2 : 0;
                    diff += code & 2 ? step >> 1 : 0;
                    diff += code & 4 ? step : 0;
                    int to = sample[l] + (code & 8 ? -diff : diff);
                    sample[l] = to = MIN(MAX(to, -32768), 32767);
                    int steps = index[l] + ((code & 4) ? 2 * (code & 3) + 2 : -1);
                    index[l] = MIN(MAX(steps, 0), 88);
                    codes[l] = code >> 4;
                    made[k][l] = to;
                }
            for (int l = 0; l < lanes; l++) {
                short *to = pcm + (size_t)(first + l) / 2 * SAMPLES * 2 + l % 2 + 16 * w - 14;
                for (int k = 0; k < 8; k++)
                    to[2 * k] = made[k][l];
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

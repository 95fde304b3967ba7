// A mixer of voices in IMA ADPCM (stereo, as in WAV files): a thread decodes one channel of one block, eight samples
// from each word; then a kernel adds the voices with gains in Q15 and saturation.
#define BLOCK_WORDS 64  // 2 of headers, 62 of samples

__constant__ short step_sizes[89] = {
    7,    8,    9,    10,   11,   12,   13,   14,   16,   17,    19,    21,    23,    25,    28,    31,    34,   37,
    41,   45,   50,   55,   60,   66,   73,   80,   88,   97,    107,   118,   130,   143,   157,   173,   190,  209,
    230,  253,  279,  307,  337,  371,  408,  449,  494,  544,   598,   658,   724,   796,   876,   963,   1060, 1166,
    1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024,  3327,  3660,  4026,  4428,  4871,  5358,  5894, 6484,
    7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
__constant__ signed char index_steps[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

struct Header {
    short sample;
    unsigned char index, reserved;
};

struct State {
    int sample, index;

    __device__ short next(unsigned int code) {
        int step = step_sizes[index];
        int diff = step >> 3;
        if (code & 1)
            diff += step >> 2;
        if (code & 2)
            diff += step >> 1;
        if (code & 4)
            diff += step;
        sample += code & 8 ? -diff : diff;
        sample = min(max(sample, -32768), 32767);
        index = min(max(index + index_steps[code & 7], 0), 88);
        return (short)sample;
    }
};

extern "C" __global__ void adpcm_decode(const unsigned int *__restrict__ blocks, short *__restrict__ pcm, int count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int block = t >> 1, channel = t & 1;
    if (block >= count)
        return;
    const unsigned int *in = blocks + (size_t)block * BLOCK_WORDS + channel;
    union {
        unsigned int word;
        Header header;
    } first;
    first.word = in[0];
    State state = {first.header.sample, min((int)first.header.index, 88)};
    const int samples = (BLOCK_WORDS / 2 - 1) * 8 + 1;
    short *out = pcm + (size_t)block * samples * 2 + channel;
    *out = first.header.sample;
    out += 2;
    for (int w = 1; w < BLOCK_WORDS / 2; w++) {
        unsigned int codes = in[2 * w];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            *out = state.next(codes & 15);
            codes >>= 4;
            out += 2;
        }
    }
}

extern "C" __global__ void mix_voices(const short2 *__restrict__ pcm, const short2 *__restrict__ gains,
                                      const int *__restrict__ delays, short2 *__restrict__ mixed, int voices,
                                      int frames) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= frames)
        return;
    unsigned int sum = 0;
    for (int v = 0; v < voices; v++) {
        int at = i - delays[v];
        if (at < 0)
            continue;
        short2 s = pcm[(size_t)v * frames + at], g = gains[v];
        int left = (s.x * g.x + (1 << 14)) >> 15, right = (s.y * g.y + (1 << 14)) >> 15;
        sum = __vaddss2(sum, __byte_perm(left, right, 0x5410));
    }
    mixed[i] = *reinterpret_cast<short2 *>(&sum);
}

// Edit distance by Myers' bit vectors: a read of up to 192 bases against a window of the reference, where the read
// may end anywhere; bases of two bits, 64 in a uint4; a thread for each pair.
template <int W>
struct Column {
    unsigned long long plus[W], minus[W];

    __device__ void start() {
        for (int w = 0; w < W; w++) {
            plus[w] = ~0ull;
            minus[w] = 0;
        }
    }

    // What the last row of the read gains from one base of the text.
    __device__ int step(const unsigned long long (&match)[W], int last_bit) {
        int carry = 0, gain = 0;
#pragma unroll
        for (int w = 0; w < W; w++) {
            unsigned long long eq = match[w], pv = plus[w], mv = minus[w];
            unsigned long long xv = eq | mv;
            if (carry < 0)
                eq |= 1ull;
            unsigned long long xh = (((eq & pv) + pv) ^ pv) | eq;
            unsigned long long ph = mv | ~(xh | pv), mh = pv & xh;
            if (w == W - 1)
                gain = (int)(ph >> last_bit & 1) - (int)(mh >> last_bit & 1);
            int out = (int)(ph >> 63) - (int)(mh >> 63);
            ph <<= 1;
            mh <<= 1;
            if (carry < 0)
                mh |= 1ull;
            else if (carry > 0)
                ph |= 1ull;
            plus[w] = mh | ~(xv | ph);
            minus[w] = ph & xv;
            carry = out;
        }
        return gain;
    }
};

__device__ __forceinline__ unsigned int word_of(const uint4 &v, int k) {
    switch (k) {
    case 0: return v.x;
    case 1: return v.y;
    case 2: return v.z;
    default: return v.w;
    }
}

template <int W>
__device__ int2 align(const uint4 *__restrict__ read, const uint4 *__restrict__ text, int length, int text_length) {
    unsigned long long peq[4][W];
    for (int w = 0; w < W; w++) {
        uint4 packed = read[w];
        unsigned long long bits[4] = {0, 0, 0, 0};
        int here = min(64, length - 64 * w);
        for (int i = 0; i < here; i++) {
            unsigned int base = word_of(packed, i >> 4) >> (2 * (i & 15)) & 3;
            bits[base] |= 1ull << i;
        }
        for (int b = 0; b < 4; b++)
            peq[b][w] = bits[b];
    }
    Column<W> column;
    column.start();
    int score = length, best = length, end = -1, last_bit = (length - 1) & 63;
    uint4 packed = make_uint4(0, 0, 0, 0);
    for (int j = 0; j < text_length; j++) {
        if ((j & 63) == 0)
            packed = text[j >> 6];
        unsigned int base = word_of(packed, j >> 4 & 3) >> (2 * (j & 15)) & 3;
        score += column.step(peq[base], last_bit);
        if (score < best) {
            best = score;
            end = j;
        }
    }
    return make_int2(best, end);
}

extern "C" __global__ void myers(const uint4 *reads, const int *lengths, const uint4 *windows, int2 *result,
                                 int pairs, int text_length) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= pairs)
        return;
    const uint4 *read = reads + 3 * (size_t)id, *text = windows + (size_t)id * ((text_length + 63) / 64);
    int length = lengths[id];
    if (length <= 0)
        result[id] = make_int2(0, -1);
    else if (length <= 64)
        result[id] = align<1>(read, text, length, text_length);
    else if (length <= 128)
        result[id] = align<2>(read, text, length, text_length);
    else
        result[id] = align<3>(read, text, length, text_length);
}

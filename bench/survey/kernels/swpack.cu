// Smith-Waterman scores of a protein against many: a thread has two sequences of the database in the halves of its
// words (16 bits each), with the packed minimum and maximum instructions; gaps are affine.
#define QUERY 96
#define LETTERS 24

__device__ __forceinline__ unsigned int both(int v) {
    return __byte_perm(v, v, 0x1010);
}

extern "C" __global__ void swpack(const signed char *__restrict__ matrix, const unsigned char *__restrict__ query,
                                  const uchar2 *__restrict__ database, const int2 *__restrict__ spans,
                                  short2 *__restrict__ scores, int query_length, int pairs, int open, int extend) {
    __shared__ short profile[QUERY][LETTERS];
    for (int i = threadIdx.x; i < query_length * LETTERS; i += blockDim.x)
        profile[i / LETTERS][i % LETTERS] = matrix[query[i / LETTERS] * LETTERS + i % LETTERS];
    __syncthreads();

    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= pairs)
        return;
    unsigned int h[QUERY], e[QUERY];
    const unsigned int floor = both(-30000), gap_open = both(-open), gap_more = both(-extend);
    for (int i = 0; i < query_length; i++) {
        h[i] = 0;
        e[i] = floor;
    }
    unsigned int best = 0;
    int2 span = spans[id];
    for (int j = 0; j < span.y; j++) {
        uchar2 letter = database[span.x + j];
        unsigned int diagonal = 0, above = 0, f = floor;
        for (int i = 0; i < query_length; i++) {
            unsigned int score =
                __byte_perm((int)profile[i][letter.x], (int)profile[i][letter.y], 0x5410);
            e[i] = __vmaxs2(__vaddss2(e[i], gap_more), __vaddss2(h[i], gap_open));
            f = __vmaxs2(__vaddss2(f, gap_more), __vaddss2(above, gap_open));
            unsigned int now = __vmaxs2(__vaddss2(diagonal, score), 0u);
            now = __vmaxs2(now, __vmaxs2(e[i], f));
            best = __vmaxs2(best, now);
            diagonal = h[i];
            h[i] = now;
            above = now;
        }
    }
    scores[id] = make_short2((short)(best & 0xffff), (short)(best >> 16));
}

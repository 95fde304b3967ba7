// WHERE comment ILIKE pattern, for a column of strings with nulls as in Arrow (offsets, bytes, bits of validity):
// a thread for each row, with `%`, `_` and `\`; a warp writes a word of the selection by a ballot.
__device__ __forceinline__ char lower(char c) {
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

__device__ bool like(const char *text, int length, const char *pattern, int pattern_length) {
    int t = 0, p = 0;
    int star = -1, star_text = 0;
    while (t < length) {
        bool matched = false;
        if (p < pattern_length) {
            char c = pattern[p];
            if (c == '%') {
                star = ++p;
                star_text = t;
                continue;
            }
            if (c == '\\' && p + 1 < pattern_length) {
                if (lower(pattern[p + 1]) == lower(text[t])) {
                    p += 2;
                    t++;
                    matched = true;
                }
            } else if (c == '_' || lower(c) == lower(text[t])) {
                p++;
                t++;
                matched = true;
            }
        }
        if (!matched) {
            if (star < 0)
                return false;
            p = star;
            t = ++star_text;
        }
    }
    while (p < pattern_length && pattern[p] == '%')
        p++;
    return p == pattern_length;
}

extern "C" __global__ void like_rows(const int *__restrict__ offsets, const char *__restrict__ bytes,
                                     const unsigned int *__restrict__ validity, const char *__restrict__ patterns,
                                     const int *__restrict__ pattern_starts, int which, unsigned int *selection,
                                     int *selected, int rows) {
    extern __shared__ char pattern[];
    int start = pattern_starts[which], pattern_length = pattern_starts[which + 1] - start;
    for (int i = threadIdx.x; i < pattern_length; i += blockDim.x)
        pattern[i] = patterns[start + i];
    __syncthreads();
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    bool is_match = false;
    if (row < rows && (validity[row >> 5] >> (row & 31) & 1)) {
        int begin = offsets[row];
        is_match = like(bytes + begin, offsets[row + 1] - begin, pattern, pattern_length);
    }
    unsigned int word = __ballot_sync(0xffffffffu, is_match);
    if ((threadIdx.x & 31) == 0 && row < rows) {
        selection[(size_t)which * ((rows + 31) / 32) + (row >> 5)] = word;
        if (word)
            atomicAdd(&selected[which], __popc(word));
    }
}

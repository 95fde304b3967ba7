// Lines that match regular expressions, by a matcher that calls itself: letters, '.', '*', '+', '?', '^' and '$'.
// A thread for each line, which tries all expressions; votes count the matches.
__device__ bool match_here(const char *expression, const char *text, const char *end, const char **stop);

__device__ __forceinline__ bool same(char wanted, const char *text, const char *end) {
    return text < end && (wanted == '.' || wanted == *text);
}

// The longest first.
__device__ bool match_many(char c, int least, const char *expression, const char *text, const char *end,
                           const char **stop) {
    const char *t = text;
    while (same(c, t, end))
        t++;
    for (; t >= text + least; t--)
        if (match_here(expression, t, end, stop))
            return true;
    return false;
}

__device__ __noinline__ bool match_here(const char *expression, const char *text, const char *end,
                                        const char **stop) {
    for (;;) {
        char c = expression[0];
        if (c == '\0') {
            *stop = text;
            return true;
        }
        switch (expression[1]) {
        case '*':
            return match_many(c, 0, expression + 2, text, end, stop);
        case '+':
            return match_many(c, 1, expression + 2, text, end, stop);
        case '?':
            if (same(c, text, end) && match_here(expression + 2, text + 1, end, stop))
                return true;
            expression += 2;
            continue;
        }
        if (c == '$' && expression[1] == '\0') {
            *stop = text;
            return text == end;
        }
        if (!same(c, text, end))
            return false;
        expression++;
        text++;
    }
}

extern "C" __global__ void pike_match(const char *__restrict__ text, const int *__restrict__ lines,
                                      const char *__restrict__ expressions, short2 *__restrict__ spans,
                                      unsigned *matches, int count, int tried, int room) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    bool mine = line < count;
    const char *start = text, *end = text;
    if (mine) {
        start = text + lines[line];
        end = text + lines[line + 1] - 1;  // without the line feed
    }
    for (int e = 0; e < tried; e++) {
        const char *expression = expressions + e * room;
        short2 span = make_short2(-1, -1);
        if (mine) {
            const char *stop;
            const char *t = start;
            if (*expression == '^') {
                if (match_here(expression + 1, t, end, &stop))
                    span = make_short2(0, stop - start);
            } else {
                do {
                    if (match_here(expression, t, end, &stop)) {
                        span = make_short2(t - start, stop - start);
                        break;
                    }
                } while (t++ < end);
            }
            spans[(long long)e * count + line] = span;
        }
        int found = __syncthreads_count(span.x >= 0);
        if (threadIdx.x == 0 && found)
            atomicAdd(matches + e, found);
    }
}

// Words in a text, of which each thread has a part.
__device__ bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

extern "C" __global__ void count_words(const char *text, int *counts, int n, int length) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, first = t * length;
    if (first >= n)
        return;
    int end = min(n, first + length), count = 0;
    bool space = first == 0 || is_space(text[first - 1]);
    for (int i = first; i < end; i++) {
        bool next = is_space(text[i]);
        if (space && !next)
            count++;
        space = next;
    }
    counts[t] = count;
}

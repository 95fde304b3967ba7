// Knuth-Morris-Pratt: a thread for each document and pattern makes the pattern's table of failures for itself,
// then counts the pattern's places and notes the first.
#define MAX_PATTERN 24

extern "C" __global__ void kmp_docs(const char *text, const long long *offset, const char *patterns, int *count,
                                    long long *first, int docs, int num_patterns) {
    int doc = blockIdx.x * blockDim.x + threadIdx.x;
    int p = blockIdx.y * blockDim.y + threadIdx.y;
    if (doc >= docs || p >= num_patterns)
        return;
    const char *pattern = patterns + p * MAX_PATTERN;
    int m = 0;
    while (m < MAX_PATTERN && pattern[m] != '\0')
        m++;

    int fail[MAX_PATTERN];
    fail[0] = 0;
    int k = 0;
    for (int i = 1; i < m; i++) {
        while (k > 0 && pattern[i] != pattern[k])
            k = fail[k - 1];
        if (pattern[i] == pattern[k])
            k++;
        fail[i] = k;
    }

    int found = 0;
    long long where = -1;
    int j = 0;
    for (long long i = offset[doc]; i < offset[doc + 1]; i++) {
        while (j > 0 && text[i] != pattern[j])
            j = fail[j - 1];
        if (text[i] == pattern[j])
            j++;
        if (j == m) {
            if (found == 0)
                where = i - m + 1 - offset[doc];
            found++;
            j = fail[j - 1];
        }
    }
    count[doc * num_patterns + p] = found;
    first[doc * num_patterns + p] = where;
}

// Which of some patterns (*, ?, [a-z], [!x]) each file name matches: a thread a name, an answer a bit, and how many
// names each pattern matches.
#define NAME 40
#define PATTERN 16

__device__ int match_class(const char *p, int pi, char c, bool &matched) {
    pi++; // '['
    bool negated = false;
    if (p[pi] == '!') {
        negated = true;
        pi++;
    }
    bool found = false;
    do {
        char low = p[pi++], high = low;
        if (p[pi] == '-' && p[pi + 1] != ']') {
            high = p[pi + 1];
            pi += 2;
        }
        if (c >= low && c <= high)
            found = true;
    } while (p[pi] != ']' && p[pi] != 0);
    matched = found != negated;
    return pi + 1;
}

__device__ bool glob_match(const char *p, const char *s) {
    int pi = 0, si = 0;
    int star = -1, retry = 0;
    while (s[si] != 0) {
        bool ok = false;
        int next = pi + 1;
        switch (p[pi]) {
        case '*':
            star = ++pi;
            retry = si;
            continue;
        case '?':
            ok = true;
            break;
        case '[':
            next = match_class(p, pi, s[si], ok);
            break;
        case 0:
            break;
        default:
            ok = p[pi] == s[si];
        }
        if (ok) {
            pi = next;
            si++;
            continue;
        }
        if (star == -1)
            return false;
        pi = star;
        si = ++retry;
    }
    while (p[pi] == '*')
        pi++;
    return p[pi] == 0;
}

extern "C" __global__ void glob(const char names[][NAME], const char patterns[][PATTERN], unsigned int *bits,
                                int *counts, int n, int num_patterns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int found = 0;
    for (int p = 0; p < num_patterns; p++) {
        if (!glob_match(patterns[p], names[i]))
            continue;
        found |= 1u << p;
        atomicAdd(&counts[p], 1);
    }
    bits[i] = found;
}

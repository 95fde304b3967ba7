// Sentences parsed by Cocke, Younger and Kasami: a block for a sentence, cells of the triangle as sets of up to 64
// symbols in shared memory, rules listed by their left child.
struct Rule {
    unsigned char parent, right;
};

extern "C" __global__ void cyk(const unsigned char *__restrict__ words, const int *__restrict__ starts,
                               const unsigned long long *__restrict__ lexicon, const Rule *__restrict__ rules,
                               const unsigned short *__restrict__ rules_of, unsigned long long *roots, int *cells,
                               int symbols, int rule_count) {
    extern __shared__ __align__(8) char arena[];
    const int n = starts[blockIdx.x + 1] - starts[blockIdx.x];
    // carved by hand: the triangle, then the starts of lists, then the rules
    unsigned long long *table = reinterpret_cast<unsigned long long *>(arena);
    unsigned short *list = reinterpret_cast<unsigned short *>(table + n * (n + 1) / 2);
    Rule *rule = reinterpret_cast<Rule *>(list + symbols + 1);
    for (int i = threadIdx.x; i <= symbols; i += blockDim.x)
        list[i] = rules_of[i];
    for (int i = threadIdx.x; i < rule_count; i += blockDim.x)
        rule[i] = rules[i];
    // spans of one length lie together: length l starts after those of 1 ... l - 1
    auto cell = [&](int length, int first) -> unsigned long long & {
        return table[(length - 1) * (2 * n - length + 2) / 2 + first];
    };
    const unsigned char *sentence = words + starts[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        cell(1, i) = lexicon[sentence[i]];
    __syncthreads();

    int filled = 0;
    for (int length = 2; length <= n; length++) {
        for (int first = threadIdx.x; first + length <= n; first += blockDim.x) {
            unsigned long long found = 0;
            for (int split = 1; split < length; split++) {
                unsigned long long left = cell(split, first), right = cell(length - split, first + split);
                if (!right)
                    continue;
                while (left) {
                    int b = __ffsll(left) - 1;
                    left &= left - 1;
                    for (int k = list[b]; k < list[b + 1]; k++)
                        if (right >> rule[k].right & 1)
                            found |= 1ull << rule[k].parent;
                }
            }
            cell(length, first) = found;
            filled += found != 0;
        }
        __syncthreads();
    }
    if (filled)
        atomicAdd(&cells[blockIdx.x], filled);
    if (threadIdx.x == 0)
        roots[blockIdx.x] = cell(n, 0);
}

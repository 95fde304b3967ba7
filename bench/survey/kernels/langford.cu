// Langford's pairings: 1, 1, 2, 2 ... n, n in a row so that k numbers lie between the two k. A thread places the three
// largest numbers as its index says and tries all places of the others, with a stack of its own.
#define MAX_N 16

extern "C" __global__ void langford(unsigned long long *solutions, unsigned *tried, int n) {
    const int prefixes_a = n - 1, prefixes_b = n, prefixes_c = n + 1;  // places of n, n - 1, n - 2
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long found = 0;
    unsigned nodes = 0;
    if (t < prefixes_a * prefixes_b * prefixes_c) {
        int a = t / (prefixes_b * prefixes_c), b = t / prefixes_c % prefixes_b, c = t % prefixes_c;
        unsigned mask_a = ((1u << (n + 1)) | 1u) << a;
        unsigned mask_b = ((1u << n) | 1u) << b;
        unsigned mask_c = ((1u << (n - 1)) | 1u) << c;
        if (!(mask_a & mask_b) && !((mask_a | mask_b) & mask_c)) {
            unsigned used[MAX_N];
            int place[MAX_N];
            int k = n - 3;
            used[k] = mask_a | mask_b | mask_c;
            place[k] = 0;
            while (k <= n - 3) {
                int last = 2 * n - k - 2;  // the greatest first place of k
                unsigned pair = (1u << (k + 1)) | 1u;
                int p = place[k];
                while (p <= last && (used[k] & (pair << p)))
                    p++;
                nodes++;
                if (p > last) {
                    k++;
                    continue;
                }
                place[k] = p + 1;
                if (k == 1) {
                    found++;
                    continue;
                }
                used[k - 1] = used[k] | (pair << p);
                place[k - 1] = 0;
                k--;
            }
        }
    }
    for (int offset = 16; offset > 0; offset >>= 1)
        found += __shfl_down_sync(0xffffffffu, found, offset);
    if ((threadIdx.x & 31) == 0 && found)
        atomicAdd(solutions, found);
    if (t < prefixes_a * prefixes_b * prefixes_c)
        tried[t] = nodes;
}

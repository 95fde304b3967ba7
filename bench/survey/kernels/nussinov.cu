// The folding of RNA with most pairs (Nussinov), for some sequences at once: a launch for each diagonal, a warp for
// each cell, whose values are also kept below the diagonal so that both parts are read along rows. Then pairs by a
// stack.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

#define MIN_LOOP 3
#define MAX_STACK 256

__device__ __forceinline__ int pairs(char a, char b) {
    switch (a) {
    case 'A':
        return b == 'U';
    case 'C':
        return b == 'G';
    case 'G':
        return b == 'C' || b == 'U';
    case 'U':
        return b == 'A' || b == 'G';
    }
    return 0;
}

// best[i][j] for i <= j; best[j][i] is the same.
extern "C" __global__ void nussinov_diagonal(const char *__restrict__ sequences, short *best, int n, int distance) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    int j = i + distance;
    if (j >= n)
        return;
    const char *sequence = sequences + (size_t)blockIdx.y * n;
    short *table = best + (size_t)blockIdx.y * n * n;
    int most = 0;
    for (int k = i + warp.thread_rank(); k < j; k += warp.num_threads())
        most = max(most, table[i * n + k] + table[j * n + k + 1]);
    most = cg::reduce(warp, most, cg::greater<int>());
    if (warp.thread_rank() == 0) {
        if (distance > MIN_LOOP && pairs(sequence[i], sequence[j]))
            most = max(most, table[(i + 1) * n + j - 1] + 1);
        table[i * n + j] = most;
        table[j * n + i] = most;
    }
}

extern "C" __global__ void nussinov_trace(const char *__restrict__ sequences, const short *__restrict__ best,
                                          char *folded, int *scores, int n, int count) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count)
        return;
    const char *sequence = sequences + (size_t)s * n;
    const short *table = best + (size_t)s * n * n;
    char *out = folded + (size_t)s * n;
    for (int i = 0; i < n; i++)
        out[i] = '.';
    scores[s] = table[n - 1];
    short2 stack[MAX_STACK];
    int depth = 0;
    stack[depth++] = make_short2(0, n - 1);
    while (depth > 0) {
        short2 part = stack[--depth];
        int i = part.x, j = part.y;
        if (j - i <= MIN_LOOP)
            continue;
        int value = table[i * n + j];
        if (value == 0)
            continue;
        if (value == table[(i + 1) * n + j]) {
            stack[depth++] = make_short2(i + 1, j);
        } else if (pairs(sequence[i], sequence[j]) && value == table[(i + 1) * n + j - 1] + 1) {
            out[i] = '(';
            out[j] = ')';
            stack[depth++] = make_short2(i + 1, j - 1);
        } else {
            for (int k = i + 1; k < j; k++)
                if (value == table[i * n + k] + table[j * n + k + 1]) {
                    stack[depth++] = make_short2(i, k);
                    stack[depth++] = make_short2(k + 1, j);
                    break;
                }
        }
    }
}

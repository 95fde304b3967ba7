// Softmax cross entropy with tiles of sixteen lanes: each tile has a row, by cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

#define TILE 16

extern "C" __global__ void cg_softmax(const float *__restrict__ logits, const int *__restrict__ labels, float *probs,
                                      float *loss, int *predicted, int rows, int classes) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<TILE> tile = cg::tiled_partition<TILE>(block);
    int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= rows)
        return;
    const float *x = logits + (size_t)row * classes;
    float *p = probs + (size_t)row * classes;

    // the largest, and where it is
    float best = -INFINITY;
    int where = 0;
    for (int c = tile.thread_rank(); c < classes; c += tile.size()) {
        float v = x[c];
        if (v > best) {
            best = v;
            where = c;
        }
    }
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) {
        float other = tile.shfl_xor(best, offset);
        int at = tile.shfl_xor(where, offset);
        if (other > best || (other == best && at < where)) {
            best = other;
            where = at;
        }
    }

    float sum = 0.0f;
    for (int c = tile.thread_rank(); c < classes; c += tile.size()) {
        float e = expf(x[c] - best);
        p[c] = e;
        sum += e;
    }
    sum = cg::reduce(tile, sum, cg::plus<float>());

    float inv = 1.0f / sum;
    for (int c = tile.thread_rank(); c < classes; c += tile.size())
        p[c] *= inv;

    if (tile.thread_rank() == 0) {
        loss[row] = logf(sum) - (x[labels[row]] - best);
        predicted[row] = where;
    }
}

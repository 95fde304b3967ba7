// Walks on a graph that prefer near or far nodes (node2vec): a thread a walk draws a neighbour and takes it or not by
// whether it is a neighbour of the node before, which a binary search tells.
#include <stdint.h>

class Pcg32 {
    uint64_t state, inc;

  public:
    __device__ Pcg32(uint64_t seed, uint64_t stream) : state(0), inc(stream << 1 | 1) {
        next();
        state += seed;
        next();
    }
    __device__ uint32_t next() {
        uint64_t old = state;
        state = old * 6364136223846793005ULL + inc;
        uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27), rot = (uint32_t)(old >> 59);
        return (shifted >> rot) | (shifted << ((0u - rot) & 31));
    }
    __device__ float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }
    __device__ uint32_t below(uint32_t n) { return __umulhi(next(), n); }
};

template <typename index_t>
__device__ bool has_edge(const index_t *__restrict__ indptr, const int *__restrict__ indices, int u, int v) {
    index_t low = indptr[u], high = indptr[u + 1];
    while (low < high) {
        index_t mid = low + (high - low) / 2;
        int w = indices[mid];
        if (w == v)
            return true;
        if (w < v)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

extern "C" __global__ void __launch_bounds__(192)
    node2vec(const int64_t *__restrict__ indptr, const int *__restrict__ indices, const int *__restrict__ starts,
             int *__restrict__ walks, int *__restrict__ visits, int num_walks, int length, float p, float q,
             uint64_t seed) {
    const float one_p = 1.0f / p, one_q = 1.0f / q;
    const float top = fmaxf(fmaxf(one_p, 1.0f), one_q);
    for (int64_t walk = blockIdx.x * blockDim.x + threadIdx.x; walk < num_walks;
         walk += (int64_t)blockDim.x * gridDim.x) {
        Pcg32 rng(seed, walk);
        int *out = walks + walk * (length + 1);
        int prev = -1, cur = starts[walk];
        out[0] = cur;
        for (int step = 1; step <= length; step++) {
            const int64_t begin = indptr[cur];
            const int degree = (int)(indptr[cur + 1] - begin);
            if (degree == 0) {
                for (; step <= length; step++)
                    out[step] = -1;
                break;
            }
            int next;
            if (prev < 0 || degree == 1)
                next = indices[begin + rng.below(degree)];
            else
                while (true) {
                    next = indices[begin + rng.below(degree)];
                    const float r = rng.uniform() * top;
                    if (next == prev) {
                        if (r < one_p)
                            break;
                    } else if (r < fminf(1.0f, one_q))
                        break;
                    else if (r < (has_edge(indptr, indices, prev, next) ? 1.0f : one_q))
                        break;
                }
            out[step] = next;
            atomicAdd(visits + next, 1);
            prev = cur;
            cur = next;
        }
    }
}

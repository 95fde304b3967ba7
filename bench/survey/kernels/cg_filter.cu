#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// One atomic operation for the threads of a warp that found something.
__device__ int next_place(int *counter) {
    auto g = cg::coalesced_threads();
    int place;
    if (g.thread_rank() == 0)
        place = atomicAdd(counter, g.size());
    return g.shfl(place, 0) + g.thread_rank();
}

extern "C" __global__ void filter(const int2 *__restrict__ points, int *__restrict__ found, int *count, int n,
                                  int radius) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int2 p = points[i];
        if (p.x * p.x + p.y * p.y < radius * radius)
            found[next_place(count)] = i;
    }
}

// LU factors of small matrices, rows chosen by the largest pivot: a matrix for each group of eight threads.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int N = 8;
using Group = cg::thread_block_tile<N, cg::thread_block>;

// The place of the largest number of a group, the first of equal ones.
__device__ int largest(const Group &group, float value, int place) {
    for (int offset = N / 2; offset > 0; offset /= 2) {
        float other = group.shfl_xor(value, offset);
        int there = group.shfl_xor(place, offset);
        if (other > value || (other == value && there < place)) {
            value = other;
            place = there;
        }
    }
    return place;
}

extern "C" __global__ void tile_lu(const float *__restrict__ a, float *__restrict__ factors, int *__restrict__ pivots, int n) {
    Group group = cg::tiled_partition<N>(cg::this_thread_block());
    int matrix = blockIdx.x * group.meta_group_size() + group.meta_group_rank(), lane = group.thread_rank();
    bool there = matrix < n;
    float row[N];
    for (int c = 0; c < N; c++)
        row[c] = there ? a[(matrix * N + lane) * N + c] : c == lane;
    int home = lane;
#pragma unroll
    for (int k = 0; k < N; k++) {
        int chosen = largest(group, home >= k ? fabsf(row[k]) : -1.0f, home);
        if (home == chosen)
            home = k;
        else if (home == k)
            home = chosen;
        if (lane == 0 && there)
            pivots[matrix * N + k] = chosen;
        int owner = __ffs(group.ballot(home == k)) - 1;
        float pivot = group.shfl(row[k], owner);
        if (home > k)
            row[k] /= pivot;
#pragma unroll
        for (int c = k + 1; c < N; c++) {
            float above = group.shfl(row[c], owner);
            if (home > k)
                row[c] -= row[k] * above;
        }
    }
    if (there)
        for (int c = 0; c < N; c++)
            factors[(matrix * N + home) * N + c] = row[c];
}

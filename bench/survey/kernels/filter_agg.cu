// Filter of two columns into a list, with one atomic addition for all lanes of a warp that have something to write.
__device__ __forceinline__ unsigned int lane_id() {
    return threadIdx.x & 31;
}

__device__ int atomic_add_aggregated(int *counter) {
    unsigned int active = __activemask();
    int leader = __ffs(active) - 1;
    int base = 0;
    if (lane_id() == leader)
        base = atomicAdd(counter, __popc(active));
    base = __shfl_sync(active, base, leader);
    unsigned int below = active & ((1u << lane_id()) - 1);
    return base + __popc(below);
}

extern "C" __global__ void filter_agg(const int *__restrict__ key, const float *__restrict__ value, int *kept_row,
                                      float *kept_value, int *counter, int n, int low, int high, float least) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int k = key[i];
        float v = value[i];
        if (k >= low && k < high && v > least) {
            int place = atomic_add_aggregated(counter);
            kept_row[place] = i;
            kept_value[place] = v;
        }
    }
}

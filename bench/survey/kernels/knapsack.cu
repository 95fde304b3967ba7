// A row of the knapsack's table, from the one before.
extern "C" __global__ void knapsack(const int *before, int *after, int weight, int value, int capacity) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > capacity)
        return;
    int best = before[j];
    if (j >= weight) {
        int with = before[j - weight] + value;
        if (with > best)
            best = with;
    }
    after[j] = best;
}

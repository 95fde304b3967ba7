// One item more: the best value for each capacity.
extern "C" __global__ void knapsack(const int *in, int *out, int weight, int value, int capacity) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w > capacity)
        return;
    int best = in[w];
    if (w >= weight)
        best = max(best, in[w - weight] + value);
    out[w] = best;
}

// Clustering of a stream: would it pay to open a centre at point x? Each point's gain, what each open centre would lose
// if it were closed, the decision, and new assignments; three launches for each candidate.
extern "C" __global__ void pgain_cost(const float *__restrict__ coord, const float *__restrict__ weight,
                                      const float *__restrict__ cost, const int *__restrict__ assign, char *switches,
                                      float *lower, float *opening, int n, int dim, int x, int slots) {
    extern __shared__ float shared[];
    float *candidate = shared;
    float *lower_block = shared + dim;
    float *opening_block = lower_block + slots;
    for (int k = threadIdx.x; k < dim; k += blockDim.x)
        candidate[k] = coord[k * n + x];
    for (int s = threadIdx.x; s < slots; s += blockDim.x)
        lower_block[s] = 0.0f;
    if (threadIdx.x == 0)
        *opening_block = 0.0f;
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float distance = 0.0f;
        for (int k = 0; k < dim; k++) {
            float d = coord[k * n + i] - candidate[k];
            distance += d * d;
        }
        float x_cost = distance * weight[i], current = cost[i];
        bool cheaper = x_cost < current;
        switches[i] = cheaper;
        if (cheaper)
            atomicAdd(opening_block, x_cost - current);
        else
            atomicAdd(&lower_block[assign[i]], current - x_cost);
    }
    __syncthreads();
    for (int s = threadIdx.x; s < slots; s += blockDim.x)
        if (lower_block[s] != 0.0f)
            atomicAdd(&lower[s], lower_block[s]);
    if (threadIdx.x == 0)
        atomicAdd(opening, *opening_block);
}

// One block. `chosen`: the new centre's slot, or -1.
extern "C" __global__ void pgain_decide(float *lower, float *opening, int *centre, char *open, int *used, int *chosen,
                                        int x, int slots, float z) {
    __shared__ float gain;
    if (threadIdx.x == 0)
        gain = -(z + *opening);
    __syncthreads();
    for (int s = threadIdx.x; s < *used; s += blockDim.x)
        if (open[s] && z + lower[s] > 0.0f)
            atomicAdd(&gain, z + lower[s]);
    __syncthreads();
    bool pays = gain > 0.0f;
    if (pays)
        for (int s = threadIdx.x; s < *used; s += blockDim.x)
            if (open[s] && z + lower[s] > 0.0f)
                open[s] = 0;
    __syncthreads();
    for (int s = threadIdx.x; s < slots; s += blockDim.x)
        lower[s] = 0.0f;
    if (threadIdx.x == 0) {
        *opening = 0.0f;
        *chosen = -1;
        if (pays) {
            int slot = *used;
            centre[slot] = x;
            open[slot] = 1;
            *chosen = slot;
            *used = slot + 1;
        }
    }
}

extern "C" __global__ void pgain_assign(const float *__restrict__ coord, const float *__restrict__ weight, float *cost,
                                        int *assign, const char *__restrict__ switches, const char *__restrict__ open,
                                        const int *__restrict__ chosen, int n, int dim, int x) {
    int slot = *chosen;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (slot < 0 || i >= n)
        return;
    if (switches[i] || !open[assign[i]]) {
        float distance = 0.0f;
        for (int k = 0; k < dim; k++) {
            float d = coord[k * n + i] - coord[k * n + x];
            distance += d * d;
        }
        cost[i] = distance * weight[i];
        assign[i] = slot;
    }
}

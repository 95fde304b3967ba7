// A knapsack filled by a genetic algorithm: a thread an individual, genes of a byte each in global memory,
// tournaments of three, two cuts, mutation; the best one so far goes on as it is.
__device__ unsigned int lcg(unsigned int *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

extern "C" __global__ void first_generation(char *genes, unsigned int *rng, int population, int items,
                                            unsigned int seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= population)
        return;
    unsigned int state = seed ^ (id * 2654435761u);
    for (int i = 0; i < items; i++)
        genes[id * items + i] = lcg(&state) % 4 == 0;
    rng[id] = state;
}

extern "C" __global__ void rate(const char *genes, const int *value, const int *weight, int *fitness,
                                unsigned long long *best, int capacity, int population, int items) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= population)
        return;
    int total_value = 0, total_weight = 0;
    for (int i = 0; i < items; i++) {
        if (genes[id * items + i]) {
            total_value += value[i];
            total_weight += weight[i];
        }
    }
    if (total_weight > capacity)
        total_value = max(0, total_value - 10 * (total_weight - capacity));
    fitness[id] = total_value;
    // of equal ones the first
    atomicMax(best, ((unsigned long long)total_value << 32) | (unsigned int)(population - 1 - id));
}

extern "C" __global__ void breed(const char *genes, char *next, const int *fitness, unsigned int *rng,
                                 unsigned long long *best, int *history, int generation, int population, int items,
                                 int mutation) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= population)
        return;
    int elite = population - 1 - (int)(*best & 0xffffffffu);
    if (id == 0) {
        history[generation] = (int)(*best >> 32);
        for (int i = 0; i < items; i++)
            next[i] = genes[elite * items + i];
        return;
    }
    unsigned int state = rng[id];
    int parent[2];
    for (int p = 0; p < 2; p++) {
        parent[p] = lcg(&state) % population;
        for (int round = 1; round < 3; round++) {
            int other = lcg(&state) % population;
            if (fitness[other] > fitness[parent[p]])
                parent[p] = other;
        }
    }
    int from = lcg(&state) % items, to = lcg(&state) % items;
    if (from > to) {
        int swap = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < items; i++) {
        int which = i >= from && i < to ? 1 : 0;
        char gene = genes[parent[which] * items + i];
        if (lcg(&state) % 1000 < mutation)
            gene = !gene;
        next[id * items + i] = gene;
    }
    rng[id] = state;
}

extern "C" __global__ void forget_best(unsigned long long *best) {
    *best = 0;
}

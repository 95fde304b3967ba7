// Betweenness of a graph's vertices from some sources: levels forward with numbers of shortest paths, then back with
// what depends on each; a thread for each vertex, a launch for each level.
extern "C" __global__ void bc_init(int *distance, unsigned *sigma, double *delta, int source, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        distance[v] = v == source ? 0 : -1;
        sigma[v] = v == source ? 1 : 0;
        delta[v] = 0.0;
    }
}

extern "C" __global__ void bc_forward(const int *__restrict__ row_ptr, const int *__restrict__ col, int *distance,
                                      unsigned *sigma, int level, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || distance[v] != level)
        return;
    unsigned paths = sigma[v];
    for (int e = row_ptr[v]; e < row_ptr[v + 1]; e++) {
        int w = col[e];
        int old = atomicCAS(&distance[w], -1, level + 1);
        if (old == -1 || old == level + 1)
            atomicAdd(&sigma[w], paths);
    }
}

extern "C" __global__ void bc_backward(const int *__restrict__ row_ptr, const int *__restrict__ col,
                                       const int *__restrict__ distance, const unsigned *__restrict__ sigma,
                                       double *delta, int level, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && distance[v] == level) {
        double sum = 0.0, mine = sigma[v];
        for (int e = row_ptr[v]; e < row_ptr[v + 1]; e++) {
            int w = col[e];
            if (distance[w] == level + 1)
                sum += mine / sigma[w] * (1.0 + delta[w]);
        }
        delta[v] = sum;
    }
}

extern "C" __global__ void bc_accumulate(const double *delta, double *centrality, int source, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && v != source)
        centrality[v] += delta[v];
}

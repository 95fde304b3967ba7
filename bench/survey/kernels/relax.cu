// Shortest paths by Bellman and Ford: a thread for each edge, rounds as launches.
extern "C" __global__ void relax(const int *from, const int *to, const int *weight, int *dist, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges) {
        int d = dist[from[e]];
        if (d < 1000000000 && d + weight[e] < dist[to[e]])
            atomicMin(&dist[to[e]], d + weight[e]);
    }
}

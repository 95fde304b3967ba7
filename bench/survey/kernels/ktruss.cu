// Edges of a graph's k-truss: those with too few triangles go, a launch a round, until none does.
__device__ int common(const int *__restrict__ row_start, const int *__restrict__ columns,
                      const unsigned char *__restrict__ alive, int u, int v, int enough) {
    int i = row_start[u], i_end = row_start[u + 1], j = row_start[v], j_end = row_start[v + 1];
    int count = 0;
    while (i < i_end && j < j_end) {
        int a = columns[i], b = columns[j];
        if (a == b) {
            if (alive[i] && alive[j] && ++count == enough)
                return count;
            i++;
            j++;
        } else if (a < b) {
            i++;
        } else {
            j++;
        }
    }
    return count;
}

extern "C" __global__ void ktruss_round(const int *__restrict__ row_start, const int *__restrict__ columns,
                                        const int *__restrict__ source, const int *__restrict__ twin,
                                        const unsigned char *__restrict__ alive, unsigned char *__restrict__ next,
                                        int *removed, int edges, int k) {
    __shared__ int gone;
    if (threadIdx.x == 0)
        gone = 0;
    __syncthreads();
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges) {
        int u = source[e], v = columns[e];
        if (u < v) {
            bool stays = alive[e] && common(row_start, columns, alive, u, v, k - 2) >= k - 2;
            if (alive[e] && !stays)
                atomicAdd(&gone, 1);
            next[e] = stays;
            next[twin[e]] = stays;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && gone > 0)
        atomicAdd(removed, gone);
}

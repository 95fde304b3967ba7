// Triangles of a graph: a thread for each edge goes through the sorted lists of both ends' later neighbours at once;
// sums by halves in each CTA, then one atomic addition.
extern "C" __global__ void triangles(const int *offsets, const int *neighbours, const int *tail, int edges,
                                     unsigned long long *total) {
    __shared__ unsigned int part[256];
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int count = 0;
    if (e < edges) {
        int u = tail[e], v = neighbours[e];
        int i = offsets[u], i_end = offsets[u + 1], j = offsets[v], j_end = offsets[v + 1];
        while (i < i_end && j < j_end) {
            int a = neighbours[i], b = neighbours[j];
            if (a == b) {
                count++;
                i++;
                j++;
            } else if (a < b) {
                i++;
            } else {
                j++;
            }
        }
    }
    part[threadIdx.x] = count;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0 && part[0] > 0)
        atomicAdd(total, (unsigned long long)part[0]);
}

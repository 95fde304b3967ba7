// A level of breadth-first search: vertices of the queue push neighbours that nobody had seen into the next queue.
extern "C" __global__ void bfs_queue(const int *__restrict__ row_start, const int *__restrict__ neighbours,
                                     int *distance, const int *__restrict__ queue, int queue_size, int *next_queue,
                                     int *next_size, int level) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queue_size)
        return;
    int u = queue[i];
    for (int e = row_start[u]; e < row_start[u + 1]; e++) {
        int v = neighbours[e];
        if (distance[v] == -1 && atomicCAS(&distance[v], -1, level + 1) == -1) {
            int place = atomicAdd(&next_size[level + 1], 1);
            next_queue[place] = v;
        }
    }
}

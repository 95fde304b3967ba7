extern "C" __global__ void walk(const int *__restrict__ keys, const int *__restrict__ from, int *__restrict__ sums,
                                int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int stack[24], top = 1, sum = 0, low = from[i];
    stack[0] = 0;
    while (top) {
        int node = stack[--top], child = 2 * node + 1;
        int key = keys[node];
        if (key >= low && key < low + 64)
            sum += key;
        if (child + 1 < m) {
            if (keys[child] > low / 2)
                stack[top++] = child;
            if (keys[child + 1] > low / 2)
                stack[top++] = child + 1;
        }
    }
    sums[i] = sum;
}

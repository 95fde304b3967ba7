// Lanes that try again until they get what other lanes of their warp have: in debug builds the end of such a loop
// is put together from variables.

extern "C" __global__ void tries(int *lock, int *count, int *missed) {
    // So many tries that nobody goes without.
    bool mine = false;
    int k = 0;
    while (!mine && k < 1000000) {
        mine = atomicCAS(lock, 0, 1) == 0;
        k++;
    }
    if (!mine) {
        atomicAdd(missed, 1);
        return;
    }
    ++*(volatile int *)count;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void rows(const int *begin, const int *needed, volatile unsigned *value, volatile int *done) {
    // Each row is one more than the sum of the rows that it needs, most of them of its own warp.
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = begin[i], end = begin[i + 1];
    unsigned sum = 1;
    while (j < end)
        if (done[needed[j]]) {
            __threadfence();
            sum += value[needed[j]];
            j++;
        }
    value[i] = sum;
    __threadfence();
    done[i] = 1;
}

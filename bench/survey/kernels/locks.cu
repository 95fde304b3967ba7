// Sums by groups under a lock for each group.
extern "C" __global__ void locks(const int *__restrict__ key, const float *__restrict__ value, int *lock, volatile float *sum, volatile int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = key[i];
    bool done = false;
    while (!done)
        if (atomicCAS(&lock[k], 0, 1) == 0) {
            sum[k] += value[i];
            count[k]++;
            __threadfence();
            atomicExch(&lock[k], 0);
            done = true;
        }
}

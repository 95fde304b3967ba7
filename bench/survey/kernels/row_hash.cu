// Rows of a product of sparse matrices, a warp for each: sums by columns in a hash table in shared memory;
// of each row how many columns it has, and a sum.
#define SLOTS 256

extern "C" __global__ void rows(const int *a_begin, const int *a_columns, const float *a, const int *b_begin,
                                const int *b_columns, const float *b, int *counts, float *sums, int n) {
    __shared__ int keys[4][SLOTS];
    __shared__ float values[4][SLOTS];
    int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    int *key = keys[threadIdx.x / 32];
    float *value = values[threadIdx.x / 32];
    for (int i = lane; i < SLOTS; i += 32) {
        key[i] = -1;
        value[i] = 0;
    }
    __syncwarp();
    if (row >= n)
        return;
    for (int k = a_begin[row]; k < a_begin[row + 1]; k++) {
        int middle = a_columns[k];
        for (int j = b_begin[middle] + lane; j < b_begin[middle + 1]; j += 32) {
            int column = b_columns[j], slot = column * 107 & SLOTS - 1;
            for (;; slot = slot + 1 & SLOTS - 1) {
                int was = atomicCAS(&key[slot], -1, column);
                if (was == -1 || was == column)
                    break;
            }
            atomicAdd(&value[slot], a[k] * b[j]);
        }
        __syncwarp();
    }
    int count = 0;
    float sum = 0;
    for (int i = lane; i < SLOTS; i += 32)
        if (key[i] >= 0) {
            count++;
            sum += value[i] * (1 + key[i] % 7);
        }
    for (int step = 16; step; step >>= 1) {
        count += __shfl_down_sync(~0u, count, step);
        sum += __shfl_down_sync(~0u, sum, step);
    }
    if (lane == 0) {
        counts[row] = count;
        sums[row] = sum;
    }
}

// The product of two sparse matrices (CSR, double): a block for each row gathers its columns in a hash table in shared
// memory, first to count them, then with their sums, and sorts the table.
#define THREADS 128
#define GROUP 8  // threads for each number of A
#define TABLE 2048
#define EMPTY 0x7fffffff

__device__ __forceinline__ int insert(int *keys, int key, int mask) {
    int slot = (key * 107) & mask;
    while (true) {
        int old = atomicCAS(&keys[slot], EMPTY, key);
        if (old == EMPTY || old == key)
            return slot;
        slot = (slot + 1) & mask;
    }
}

// How large a table this row needs: a power of two above the number of its products.
__device__ int table_size(const int *a_start, const int *a_cols, const int *b_start, int row, int *products) {
    if (threadIdx.x == 0)
        *products = 0;
    __syncthreads();
    int mine = 0;
    for (int e = a_start[row] + threadIdx.x; e < a_start[row + 1]; e += THREADS)
        mine += b_start[a_cols[e] + 1] - b_start[a_cols[e]];
    if (mine)
        atomicAdd(products, mine);
    __syncthreads();
    int size = 32;
    while (size <= *products && size < TABLE)
        size *= 2;
    return size;
}

extern "C" __global__ void spgemm_count(const int *__restrict__ a_start, const int *__restrict__ a_cols,
                                        const int *__restrict__ b_start, const int *__restrict__ b_cols,
                                        int *__restrict__ row_count) {
    __shared__ int keys[TABLE];
    __shared__ int products;
    int row = blockIdx.x, group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
    int size = table_size(a_start, a_cols, b_start, row, &products);
    for (int i = threadIdx.x; i < size; i += THREADS)
        keys[i] = EMPTY;
    __syncthreads();
    for (int e = a_start[row] + group; e < a_start[row + 1]; e += THREADS / GROUP) {
        int k = a_cols[e];
        for (int f = b_start[k] + lane; f < b_start[k + 1]; f += GROUP)
            insert(keys, b_cols[f], size - 1);
    }
    __syncthreads();
    int count = 0;
    for (int start = 0; start < size; start += THREADS) {
        int i = start + threadIdx.x;
        count += __syncthreads_count(i < size && keys[i] != EMPTY);
    }
    if (threadIdx.x == 0)
        row_count[row] = count;
}

// one block: where each row starts
extern "C" __global__ void spgemm_scan(const int *__restrict__ row_count, int *__restrict__ c_start, int rows) {
    __shared__ int sums[1024];
    int carried = 0;
    for (int start = 0; start < rows; start += blockDim.x) {
        int i = start + threadIdx.x;
        int x = i < rows ? row_count[i] : 0;
        sums[threadIdx.x] = x;
        __syncthreads();
        for (int offset = 1; offset < blockDim.x; offset *= 2) {
            int y = threadIdx.x >= offset ? sums[threadIdx.x - offset] : 0;
            __syncthreads();
            sums[threadIdx.x] += y;
            __syncthreads();
        }
        if (i < rows)
            c_start[i] = carried + sums[threadIdx.x] - x;
        carried += sums[blockDim.x - 1];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        c_start[rows] = carried;
}

extern "C" __global__ void spgemm_fill(const int *__restrict__ a_start, const int *__restrict__ a_cols,
                                       const double *__restrict__ a_values, const int *__restrict__ b_start,
                                       const int *__restrict__ b_cols, const double *__restrict__ b_values,
                                       const int *__restrict__ c_start, int *__restrict__ c_cols,
                                       double *__restrict__ c_values) {
    __shared__ int keys[TABLE];
    __shared__ double sums[TABLE];
    __shared__ int products;
    int row = blockIdx.x, group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
    int size = table_size(a_start, a_cols, b_start, row, &products);
    for (int i = threadIdx.x; i < size; i += THREADS) {
        keys[i] = EMPTY;
        sums[i] = 0.0;
    }
    __syncthreads();
    for (int e = a_start[row] + group; e < a_start[row + 1]; e += THREADS / GROUP) {
        int k = a_cols[e];
        double a = a_values[e];
        for (int f = b_start[k] + lane; f < b_start[k + 1]; f += GROUP)
            atomicAdd(&sums[insert(keys, b_cols[f], size - 1)], a * b_values[f]);
    }
    __syncthreads();
    // bitonic sort by columns: what is empty goes to the end
    for (int k = 2; k <= size; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            for (int i = threadIdx.x; i < size; i += THREADS) {
                int other = i ^ j;
                if (other > i) {
                    bool up = (i & k) == 0;
                    int x = keys[i], y = keys[other];
                    if ((x > y) == up) {
                        keys[i] = y;
                        keys[other] = x;
                        double t = sums[i];
                        sums[i] = sums[other];
                        sums[other] = t;
                    }
                }
            }
            __syncthreads();
        }
    int first = c_start[row], count = c_start[row + 1] - first;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        c_cols[first + i] = keys[i];
        c_values[first + i] = sums[i];
    }
}

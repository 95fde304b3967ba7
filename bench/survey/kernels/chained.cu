// A hash table of linked lists: atomicExch puts a node before the others of its bucket, then lists are searched.
__device__ unsigned int bucket_of(unsigned int key, unsigned int mask) {
    key = (key ^ 61) ^ (key >> 16);
    key += key << 3;
    key ^= key >> 4;
    key *= 0x27d4eb2du;
    key ^= key >> 15;
    return key & mask;
}

extern "C" __global__ void clear_heads(int *head, int buckets) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < buckets)
        head[i] = -1;
}

extern "C" __global__ void insert(const unsigned int *__restrict__ key, int *head, int *next, int n,
                                  unsigned int mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        next[i] = atomicExch(&head[bucket_of(key[i], mask)], i);
}

extern "C" __global__ void lookup(const unsigned int *__restrict__ query, const unsigned int *__restrict__ key,
                                  const int *__restrict__ value, const int *__restrict__ head,
                                  const int *__restrict__ next, int *matches, int *total, int queries,
                                  unsigned int mask) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries)
        return;
    unsigned int wanted = query[q];
    int count = 0, sum = 0;
    for (int node = head[bucket_of(wanted, mask)]; node != -1; node = next[node])
        if (key[node] == wanted) {
            count++;
            sum += value[node];
        }
    matches[q] = count;
    total[q] = sum;
}

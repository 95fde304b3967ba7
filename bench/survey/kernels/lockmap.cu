// Statistics by key in a chained hash table: a lock for each bucket guards its list of nodes, which come from a pool;
// afterwards keys are looked up.
#define NIL (-1)

struct Node {
    unsigned long long key;
    int next;
    int count;
    short low, high;
    int last;
    long long sum;
};

struct Table {
    int *heads;
    int *locks;
    Node *pool;
    int *used;
    unsigned buckets;
};

__device__ unsigned bucket_of(unsigned long long key, unsigned buckets) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 29;
    return (unsigned)(key % buckets);
}

extern "C" __global__ void lockmap_make(Table *table, int *heads, int *locks, Node *pool, int *used,
                                        unsigned buckets) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < buckets) {
        heads[i] = NIL;
        locks[i] = 0;
    }
    if (i == 0) {
        *used = 0;
        *table = Table{heads, locks, pool, used, buckets};
    }
}

extern "C" __global__ void lockmap_add(const Table *shared_table, const unsigned long long *__restrict__ keys,
                                       const short *__restrict__ values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Table table = *shared_table;
    unsigned long long key = keys[i];
    short value = values[i];
    unsigned b = bucket_of(key, table.buckets);
    volatile int *head = table.heads + b;
    bool done = false;
    do {
        if (atomicCAS(&table.locks[b], 0, 1) == 0) {
            __threadfence();
            int at = *head;
            while (at != NIL) {
                volatile Node *node = table.pool + at;
                if (node->key == key)
                    break;
                at = node->next;
            }
            if (at == NIL) {
                at = atomicAdd(table.used, 1);
                volatile Node *node = table.pool + at;
                node->key = key;
                node->count = 1;
                node->low = value;
                node->high = value;
                node->last = i;
                node->sum = value;
                node->next = *head;
                *head = at;
            } else {
                volatile Node *node = table.pool + at;
                node->count = node->count + 1;
                node->sum = node->sum + value;
                if (value < node->low)
                    node->low = value;
                if (value > node->high)
                    node->high = value;
                if (i > node->last)
                    node->last = i;
            }
            __threadfence();
            atomicExch(&table.locks[b], 0);
            done = true;
        }
    } while (!done);
}

extern "C" __global__ void lockmap_find(const Table *shared_table, const unsigned long long *__restrict__ asked, int4 *found,
                                        float *mean, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Table table = *shared_table;
    unsigned long long key = asked[i];
    const Node *node = nullptr;
    for (int at = table.heads[bucket_of(key, table.buckets)]; at != NIL; at = node->next) {
        node = table.pool + at;
        if (node->key == key) {
            found[i] = make_int4(node->count, node->low, node->high, node->last);
            mean[i] = (float)((double)node->sum / node->count);
            return;
        }
    }
    found[i] = make_int4(0, 0, 0, -1);
    mean[i] = 0.0f;
}

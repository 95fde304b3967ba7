// Statistics by key in a chained hash table.
#include "native.h"

typedef struct {
    ull key;
    int next, count;
    short low, high;
    int last;
    long long sum;
} Node;

static inline uint bucket_of(ull key, uint buckets) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 29;
    return key % buckets;
}

void run(const ull *restrict keys, const short *restrict values, const ull *restrict asked, int (*restrict found)[4],
         float *restrict mean, int n, int questions, uint buckets, int keys_at_most) {
    int *heads = malloc(buckets * sizeof *heads), used = 0;
    Node *pool = malloc(keys_at_most * sizeof *pool);
    memset(heads, 0xff, buckets * sizeof *heads);
    for (int i = 0; i < n; i++) {
        ull key = keys[i];
        short value = values[i];
        int *head = heads + bucket_of(key, buckets), at = *head;
        while (at >= 0 && pool[at].key != key)
            at = pool[at].next;
        if (at < 0) {
            pool[used] = (Node){key, *head, 1, value, value, i, value};
            *head = used++;
        } else {
            Node *node = pool + at;
            node->count++;
            node->sum += value;
            node->low = MIN(node->low, value);
            node->high = MAX(node->high, value);
            node->last = i;
        }
    }
    for (int i = 0; i < questions; i++) {
        int at = heads[bucket_of(asked[i], buckets)];
        while (at >= 0 && pool[at].key != asked[i])
            at = pool[at].next;
        int *f = found[i];
        if (at >= 0) {
            Node *node = pool + at;
            f[0] = node->count;
            f[1] = node->low;
            f[2] = node->high;
            f[3] = node->last;
            mean[i] = (double)node->sum / node->count;
        } else {
            f[0] = f[1] = f[2] = 0;
            f[3] = -1;
            mean[i] = 0;
        }
    }
    free(heads);
    free(pool);
}

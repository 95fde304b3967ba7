#include "native.h"

static inline uint bucket_of(uint key, uint mask) {
    key = (key ^ 61) ^ (key >> 16);
    key += key << 3;
    key ^= key >> 4;
    key *= 0x27d4eb2du;
    key ^= key >> 15;
    return key & mask;
}

void run(const uint *restrict key, const int *restrict value, const uint *restrict query, int *restrict matches,
         int *restrict total, int n, int queries, uint mask) {
    int *head = malloc((mask + 1L) * sizeof(int));
    struct {
        uint key;
        int value, next;
    } *nodes = malloc(n * sizeof *nodes);
    memset(head, 0xff, (mask + 1L) * sizeof(int));
    for (int i = 0; i < n; i++) {
        uint b = bucket_of(key[i], mask);
        nodes[i].key = key[i];
        nodes[i].value = value[i];
        nodes[i].next = head[b];
        head[b] = i;
    }
    for (int q = 0; q < queries; q++) {
        uint wanted = query[q];
        int count = 0, sum = 0;
        for (int node = head[bucket_of(wanted, mask)]; node >= 0; node = nodes[node].next)
            if (nodes[node].key == wanted) {
                count++;
                sum += nodes[node].value;
            }
        matches[q] = count;
        total[q] = sum;
    }
    free(head);
    free(nodes);
}

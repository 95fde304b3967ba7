#include "native.h"
#define ORDER 16

typedef struct {
    long long key[ORDER];
    int child[ORDER], count, leaf, next, unused;
} Node;

void run(const Node *restrict nodes, const long long *restrict low, const long long *restrict high,
         int *restrict found, long long *restrict sums, int root, int queries) {
    for (int i = 0; i < queries; i++) {
        long long a = low[i], b = high[i], sum = 0;
        int at = root, matches = 0;
        while (!nodes[at].leaf) {
            int k = 0;
            while (k + 1 < nodes[at].count && nodes[at].key[k + 1] <= a)
                k++;
            at = nodes[at].child[k];
        }
        for (; at >= 0; at = nodes[at].next) {
            const Node *node = nodes + at;
            for (int k = 0; k < node->count; k++) {
                if (node->key[k] > b)
                    goto done;
                if (node->key[k] >= a) {
                    matches++;
                    sum += node->child[k];
                }
            }
        }
    done:
        found[i] = matches;
        sums[i] = sum;
    }
}

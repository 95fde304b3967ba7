#include "native.h"

typedef struct {
    int key, child[2], times;
} Node;

void run(const int *restrict keys, const int *restrict values, const int *restrict queries,
         int *restrict floor_key, int *restrict times, long long *restrict range_sum, int n, int width, int m) {
    Node *restrict tree = malloc(n * sizeof *tree);
    tree[0] = (Node){keys[0], {-1, -1}, 1};
    for (int i = 1, used = 1; i < n; i++) {
        int key = keys[i], at = 0;
        while (key != tree[at].key) {
            int *child = tree[at].child + (key > tree[at].key);
            if (*child < 0) {
                tree[*child = used] = (Node){key, {-1, -1}, 0};
                used++;
            }
            at = *child;
        }
        tree[at].times++;
    }
    for (int q = 0; q < m; q++) {
        int low = queries[q], high = low + width, best = -1, stack[64], top = 1;
        for (int at = 0; at >= 0;) {
            int key = tree[at].key;
            best = key <= low ? at : best;
            if (key == low)
                break;
            at = tree[at].child[key < low];
        }
        floor_key[q] = best < 0 ? -1 : tree[best].key;
        times[q] = best < 0 ? 0 : tree[best].times;
        long long sum = 0;
        stack[0] = 0;
        while (top) {
            Node node = tree[stack[--top]];
            if (node.key >= low && node.key < high)
                sum += (long long)node.key * node.times;
            if (node.key > low && node.child[0] >= 0)
                stack[top++] = node.child[0];
            if (node.key < high && node.child[1] >= 0)
                stack[top++] = node.child[1];
        }
        range_sum[q] = sum;
    }
    free(tree);
}

// Ranges looked up in a B+ tree: from the root down to the leaf where a range begins, then from leaf to leaf.
// Of each range how many keys it has, and the sum of their values.
#define ORDER 16

struct Node {
    long long key[ORDER];
    int child[ORDER]; // of leaves: values
    int count, leaf, next, unused;
};

extern "C" __global__ void btree_range(const Node *nodes, const long long *low, const long long *high, int *found,
                                       long long *sums, int root, int queries) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries)
        return;
    long long a = low[i], b = high[i];
    int at = root;
    while (!nodes[at].leaf) {
        int k = 0;
        while (k + 1 < nodes[at].count && nodes[at].key[k + 1] <= a)
            k++;
        at = nodes[at].child[k];
    }
    int matches = 0;
    long long sum = 0;
    bool more = true;
    while (more && at >= 0) {
        const Node *node = &nodes[at];
        for (int k = 0; k < node->count; k++) {
            if (node->key[k] > b) {
                more = false;
                break;
            }
            if (node->key[k] >= a) {
                matches++;
                sum += node->child[k];
            }
        }
        at = node->next;
    }
    found[i] = matches;
    sums[i] = sum;
}

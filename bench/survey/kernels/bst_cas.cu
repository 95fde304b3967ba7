// A binary search tree in an array: threads hang their nodes into it by atomicCAS, then each query goes down for the
// largest key that is not above it, and walks through the part of the tree that is in its range.
struct Node {
    int key;
    int value;
    int left;
    int right;
    int duplicates;
};

extern "C" __global__ void bst_init(Node *tree, const int *keys, const int *values, int n) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) {
        Node node;
        node.key = keys[i];
        node.value = values[i];
        node.left = node.right = -1;
        node.duplicates = 0;
        tree[i] = node;
    }
}

extern "C" __global__ void bst_insert(Node *tree, int n) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i == 0 || i >= n) // node 0 is the root
        return;
    int key = tree[i].key;
    int current = 0;
    while (true) {
        if (key == tree[current].key) {
            atomicAdd(&tree[current].duplicates, 1);
            break;
        }
        int *child = key < tree[current].key ? &tree[current].left : &tree[current].right;
        int old = atomicCAS(child, -1, i);
        if (old == -1)
            break;
        current = old;
    }
}

__device__ int find_floor(const Node *tree, int query) {
    int best = -1, current = 0;
    while (current != -1) {
        if (tree[current].key == query)
            return current;
        if (tree[current].key < query) {
            best = current;
            current = tree[current].right;
        } else {
            current = tree[current].left;
        }
    }
    return best;
}

extern "C" __global__ void bst_query(const Node *tree, const int *queries, int *floor_key, int *times,
                                     long long *range_sum, int width, int m) {
    int q = threadIdx.x + blockDim.x * blockIdx.x;
    if (q >= m)
        return;
    int low = queries[q], high = low + width;
    int at = find_floor(tree, low);
    floor_key[q] = at >= 0 ? tree[at].key : -1;
    times[q] = at >= 0 ? tree[at].duplicates + 1 : 0;
    int stack[64];
    int top = 0;
    stack[top++] = 0;
    long long sum = 0;
    while (top > 0) {
        int current = stack[--top];
        int key = tree[current].key;
        if (key >= low && key < high)
            sum += (long long)key * (1 + tree[current].duplicates);
        if (key > low && tree[current].left != -1)
            stack[top++] = tree[current].left;
        if (key < high && tree[current].right != -1)
            stack[top++] = tree[current].right;
    }
    range_sum[q] = sum;
}

// Routes by longest prefix: a path-compressed trie whose nodes hold true pointers, which the first kernel makes out of
// indices; the second walks it for each address and counts what goes to each hop.
struct Node {
    unsigned bits;          // prefix, in the upper bits
    unsigned char length;   // of the prefix
    unsigned char pad;
    unsigned short hop;     // 0: no route ends here
    Node *child[2];
};

extern "C" __global__ void trie_link(const unsigned *bits, const unsigned *length_hop, const int2 *children,
                                     Node *nodes, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        Node node;
        node.bits = bits[i];
        node.length = length_hop[i] & 0xff;
        node.pad = 0;
        node.hop = length_hop[i] >> 16;
        int2 c = children[i];
        node.child[0] = c.x < 0 ? nullptr : nodes + c.x;
        node.child[1] = c.y < 0 ? nullptr : nodes + c.y;
        nodes[i] = node;
    }
}

extern "C" __global__ void trie_walk(const Node *root, const unsigned *__restrict__ addresses,
                                     const unsigned short *__restrict__ sizes, unsigned short *__restrict__ hops,
                                     unsigned long long *bytes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned address = addresses[i];
    unsigned short best = 0;
    const Node *node = root;
    do {
        if (node->length) {
            int shift = 32 - node->length;
            if ((address ^ node->bits) >> shift)
                break;
        }
        if (node->hop)
            best = node->hop;
        if (node->length == 32)
            break;
        node = node->child[(address >> (31 - node->length)) & 1];
    } while (node);
    hops[i] = best;
    atomicAdd(bytes + best, (unsigned long long)sizes[i]);
}

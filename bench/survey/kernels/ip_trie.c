// Routes by longest prefix in a path-compressed trie of nodes with pointers.
#include "native.h"

typedef struct Node {
    uint bits;
    uchar length, pad;
    unsigned short hop;
    struct Node *child[2];
} Node;

void run(const uint *restrict bits, const uint *restrict length_hop, const int (*restrict children)[2],
         const uint *restrict addresses, const unsigned short *restrict sizes, unsigned short *restrict hops,
         ull *restrict bytes, int count, int n) {
    Node *nodes = malloc(count * sizeof *nodes);
    for (int i = 0; i < count; i++) {
        Node node = {bits[i], length_hop[i] & 0xff, 0, length_hop[i] >> 16};
        for (int k = 0; k < 2; k++)
            node.child[k] = children[i][k] < 0 ? 0 : nodes + children[i][k];
        nodes[i] = node;
    }
    for (int i = 0; i < n; i++) {
        uint address = addresses[i], best = 0;
        for (const Node *node = nodes; node; node = node->child[address >> (31 - node->length) & 1]) {
            if (node->length && (address ^ node->bits) >> (32 - node->length))
                break;
            if (node->hop)
                best = node->hop;
            if (node->length == 32)
                break;
        }
        hops[i] = best;
        bytes[best] += sizes[i];
    }
    free(nodes);
}

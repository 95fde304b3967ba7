#include "native.h"

typedef struct {
    float low[3];
    int left;
    float high[3];
    int right;
} Node;

void run(const float *restrict rest, float *restrict moved, const int *restrict leaf_nodes, Node *restrict nodes,
         double *restrict cost, int count, int node_count, float time) {
    for (int i = 0; i < 3 * count; i++) {
        const float *p = rest + 3 * (size_t)i;
        float *q = moved + 3 * (size_t)i;
        q[0] = p[0] + 0.25f * p[2] * time;
        q[1] = p[1] * (1 + 0.5f * time);
        q[2] = p[2] - 0.125f * time * p[1] * p[1];
    }
    for (int i = 0; i < count; i++) {
        const float *t = moved + 9 * (size_t)i;
        Node *n = nodes + leaf_nodes[i];
        for (int k = 0; k < 3; k++) {
            n->low[k] = MIN(MIN(t[k], t[3 + k]), t[6 + k]);
            n->high[k] = MAX(MAX(t[k], t[3 + k]), t[6 + k]);
        }
        n->left = -1;
        n->right = i;
    }
    double sum = 0;
    for (int i = node_count - 1; i >= 0; i--) {  // children come after their parents
        Node *n = nodes + i;
        if (n->left >= 0) {
            const Node *l = nodes + n->left, *r = nodes + n->right;
            for (int k = 0; k < 3; k++) {
                n->low[k] = MIN(l->low[k], r->low[k]);
                n->high[k] = MAX(l->high[k], r->high[k]);
            }
        }
        double x = n->high[0] - n->low[0], y = n->high[1] - n->low[1], z = n->high[2] - n->low[2];
        sum += 2 * (x * y + y * z + z * x) * (n->left < 0 ? 1.0 : 1.5);
    }
    *cost += sum;
}

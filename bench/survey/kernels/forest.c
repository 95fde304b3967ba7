#include "native.h"

typedef struct {
    int feature;
    float threshold;
    int left, right;
} Node;

#define LANES 16

// A tree's nodes stay in the cache while 16 samples go down it together; who is at a leaf stays there.
void run(const Node *restrict nodes, const int *restrict roots, const float *restrict samples,
         float *restrict probability, int n, int features, int trees, float bias) {
    for (int i = 0; i < n; i += LANES) {
        float sum[LANES];
        int lanes = MIN(LANES, n - i);
        for (int l = 0; l < LANES; l++)
            sum[l] = bias;
        for (int t = 0; t < trees; t++) {
            int at[LANES], going = 1;
            for (int l = 0; l < LANES; l++)
                at[l] = roots[t];
            while (going) {
                going = 0;
#pragma omp simd reduction(| : going)
                for (int l = 0; l < LANES; l++) {
                    int feature = nodes[at[l]].feature, leaf = feature < 0;
                    float x = samples[(i + MIN(l, lanes - 1)) * features + (leaf ? 0 : feature)];
                    int next = x < nodes[at[l]].threshold ? nodes[at[l]].left : nodes[at[l]].right;
                    at[l] = leaf ? at[l] : next;
                    going |= !leaf;
                }
            }
            for (int l = 0; l < LANES; l++)
                sum[l] += nodes[at[l]].threshold;
        }
        for (int l = 0; l < lanes; l++)
            probability[i + l] = 1 / (1 + expf(-sum[l]));
    }
}

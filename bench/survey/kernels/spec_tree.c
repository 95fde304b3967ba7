// Attention of draft tokens over a prefix and their ancestors, and the walk down the tree of drafts.
#include "native.h"

enum { D = 64 };

void run(const float *restrict q, const float *restrict k, const float *restrict v, const ull *restrict tree_mask,
         const int *restrict prefix_len, float *restrict out, const int *restrict parent, const int *restrict draft,
         const int *restrict target, int *restrict accepted, int *restrict length, int nodes, int heads, int kv_heads,
         int max_keys, float scale, int seqs) {
    float *p = malloc(max_keys * sizeof(float));
    for (int s = 0; s < seqs; s++) {
        int prefix = prefix_len[s], total = prefix + nodes;
        for (int h = 0; h < heads; h++) {
            size_t at = ((size_t)s * kv_heads + h / (heads / kv_heads)) * max_keys * D;
            for (int node = 0; node < nodes; node++) {
                size_t q_at = (((size_t)s * nodes + node) * heads + h) * D;
                ull mask = tree_mask[s * nodes + node];
                float query[D], sums[D] = {0}, most = -INFINITY, total_p = 0;
                for (int i = 0; i < D; i++)
                    query[i] = q[q_at + i] * scale;
                for (int key = 0; key < total; key++) {
                    p[key] = -INFINITY;
                    if (key < prefix || mask >> (key - prefix) & 1) {
                        const float *row = k + at + (size_t)key * D;
                        float sum = 0;
#pragma omp simd reduction(+ : sum)
                        for (int i = 0; i < D; i++)
                            sum += row[i] * query[i];
                        p[key] = sum;
                        most = MAX(most, sum);
                    }
                }
#pragma omp simd reduction(+ : total_p)
                for (int key = 0; key < total; key++) {
                    float d = p[key] - most, e = expf(d > -87 ? d : -87);  // slow with infinities
                    p[key] = d >= -87 ? e : 0;
                    total_p += p[key];
                }
                for (int key = 0; key < total; key++)
                    if (p[key] != 0) {
                        const float *row = v + at + (size_t)key * D;
#pragma omp simd
                        for (int i = 0; i < D; i++)
                            sums[i] += p[key] * row[i];
                    }
                for (int i = 0; i < D; i++)
                    out[q_at + i] = sums[i] / total_p;
            }
        }
        const int *up = parent + s * nodes, *token = draft + s * nodes;
        int current = 0, count = 0;
        for (int found = 1; found;) {
            int want = target[s * nodes + current];
            accepted[s * nodes + count++] = want;
            found = 0;
            for (int node = 1; node < nodes && !found; node++)
                if (up[node] == current && token[node] == want) {
                    current = node;
                    found = 1;
                }
        }
        length[s] = count;
    }
    free(p);
}

// The likelihood of a tree of species from aligned DNA: blocks of sites through all nodes, so that what is between
// stays in the cache; sites are side by side, so that gcc makes vectors.
#include "native.h"
enum { CATEGORIES = 4, W = 64 };

typedef struct {
    float frequency[4], rate[CATEGORIES], kappa;
} Model;

typedef struct {
    int branch, tip, inner;
} Child;

typedef struct {
    Child left, right;
} Node;

typedef float Part[CATEGORIES][4][W];

static void transition(const Model *m, float length, float (*restrict p)[16]) {
    const float *f = m->frequency;
    float group[2] = {f[0] + f[2], f[1] + f[3]};
    float scale = 2 * (group[0] * group[1] + m->kappa * (f[0] * f[2] + f[1] * f[3]));
    for (int c = 0; c < CATEGORIES; c++) {
        float t = length * m->rate[c] / scale, e1 = expf(-t);
        for (int from = 0; from < 4; from++) {
            float g = group[from & 1], e2 = expf(-t * (1 + g * (m->kappa - 1)));
            for (int to = 0; to < 4; to++) {
                float same = f[to] + f[to] * (1 / g - 1) * e1;
                p[c][from * 4 + to] = from == to               ? same + (g - f[to]) / g * e2
                                      : (from & 1) == (to & 1) ? same - f[to] / g * e2
                                                               : f[to] * (1 - e1);
            }
        }
    }
}

static void through_branch(Child child, const float (*restrict p)[16], const uchar *restrict letters,
                           const Part *restrict parts, Part out, int lanes) {
    if (child.tip >= 0) {
        for (int c = 0; c < CATEGORIES; c++)
            for (int from = 0; from < 4; from++) {
                float row[5] = {p[c][4 * from], p[c][4 * from + 1], p[c][4 * from + 2], p[c][4 * from + 3], 1};
                for (int l = 0; l < lanes; l++)
                    out[c][from][l] = row[letters[l] > 3 ? 4 : letters[l]];
            }
        return;
    }
    for (int c = 0; c < CATEGORIES; c++) {
        const float(*below)[W] = parts[child.inner][c];
        for (int from = 0; from < 4; from++) {
            const float *q = p[c] + 4 * from;
#pragma omp simd
            for (int l = 0; l < W; l++)
                out[c][from][l] = q[0] * below[0][l] + q[1] * below[1][l] + q[2] * below[2][l] + q[3] * below[3][l];
        }
    }
}

void run(const Model *restrict model, const float *restrict lengths, const Node *restrict nodes,
         const uchar *restrict letters, const int *restrict weights, float *restrict site_log, double *restrict total,
         int branches, int inner, int sites) {
    float(*p)[CATEGORIES][16] = malloc(branches * sizeof *p);
    Part *parts = calloc(inner, sizeof *parts);
    static Part left, right;
    double sum = 0;
    for (int b = 0; b < branches; b++)
        transition(model, lengths[b], p[b]);
    for (int first = 0; first < sites; first += W) {
        int lanes = MIN(W, sites - first);
        float log_scale[W] = {0};
        for (int n = 0; n < inner; n++) {
            Node node = nodes[n];
            const uchar *own = letters + first;
            const uchar *left_row = own + (long)MAX(0, node.left.tip) * sites;
            const uchar *right_row = own + (long)MAX(0, node.right.tip) * sites;
            through_branch(node.left, p[node.left.branch], left_row, parts, left, lanes);
            through_branch(node.right, p[node.right.branch], right_row, parts, right, lanes);
            float largest[W] = {0};
            for (int c = 0; c < CATEGORIES; c++)
                for (int k = 0; k < 4; k++)
#pragma omp simd
                    for (int l = 0; l < W; l++) {
                        float v = left[c][k][l] * right[c][k][l];
                        parts[n][c][k][l] = v;
                        largest[l] = largest[l] > v ? largest[l] : v;
                    }
            for (int l = 0; l < lanes; l++)
                if (largest[l] < 1e-4f && largest[l] > 0) {
                    float inverse = 1 / largest[l];
                    for (int c = 0; c < CATEGORIES; c++)
                        for (int k = 0; k < 4; k++)
                            parts[n][c][k][l] *= inverse;
                    log_scale[l] += logf(largest[l]);
                }
        }
        for (int l = 0; l < lanes; l++) {
            float likelihood = 0;
            for (int c = 0; c < CATEGORIES; c++)
                for (int k = 0; k < 4; k++)
                    likelihood += 0.25f * model->frequency[k] * parts[inner - 1][c][k][l];
            site_log[first + l] = logf(likelihood) + log_scale[l];
            sum += (double)weights[first + l] * site_log[first + l];
        }
    }
    *total += sum;
    free(p);
    free(parts);
}

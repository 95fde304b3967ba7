// Scores of local alignments (Smith and Waterman, affine gaps): 32 sequences of the database side by side.
#include "native.h"
enum { LETTERS = 24, LANES = 32, LONGEST = 256 };

void run(const uchar *restrict query, const int8_t *restrict matrix, const uchar *restrict database,
         const int *restrict lengths, int *restrict scores, int rows, int pairs, int open, int extend) {
    int n = 2 * pairs;
    short gap_open = open, gap_extend = extend;
    short left[LONGEST][LANES], across[LONGEST][LANES], profile[LETTERS][LANES];
    for (int s = 0; s < n; s += LANES) {
        int lanes = MIN(LANES, n - s), columns = 0;
        short best[LANES] = {0};
        for (int k = 0; k < lanes; k++)
            columns = MAX(columns, lengths[s + k]);
        memset(left, 0, sizeof left[0] * rows);
        memset(across, 0, sizeof across[0] * rows);
        for (int column = 0; column < columns; column++) {
            const uchar *letters = database + (size_t)column * n + s;
            for (int k = 0; k < LANES; k++) {
                int letter = k < lanes ? letters[k] : LETTERS - 1;
                for (int a = 0; a < LETTERS; a++)
                    profile[a][k] = matrix[a * LETTERS + letter];
            }
            short up[LANES] = {0}, down[LANES] = {0}, diagonal[LANES] = {0};
            for (int row = 0; row < rows; row++) {
                const short *score = profile[query[row]];
                short *l = left[row], *e = across[row];
#pragma omp simd
                for (int k = 0; k < LANES; k++) {
                    short x = e[k] - gap_extend, y = l[k] - gap_open, z = down[k] - gap_extend, u = up[k] - gap_open;
                    x = MAX(x, y);
                    z = MAX(z, u);
                    short h = diagonal[k] + score[k];
                    h = MAX(h, x);
                    h = MAX(h, z);
                    h = MAX(h, 0);
                    best[k] = MAX(best[k], h);
                    diagonal[k] = l[k];
                    e[k] = x;
                    l[k] = h;
                    down[k] = z;
                    up[k] = h;
                }
            }
        }
        for (int k = 0; k < lanes; k++)
            scores[s + k] = best[k];
    }
}

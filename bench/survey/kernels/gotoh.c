#include "native.h"
#define MAX_QUERY 64

static const signed char query[MAX_QUERY] = {
    9, 11, 17, 8, 15, 8, 9, 10, 5, 18, 0, 15, 17, 8, 10, 8, 14, 9, 16, 11, 11, 8, 11, 13, 11, 5, 14, 11, 10, 16,
    4, 16, 5, 6, 11, 15, 9, 2, 13, 5, 19, 18, 16, 13, 9, 19, 17, 8, 0, 6, 5, 18, 14, 19, 5, 7, 5, 1, 15, 7};
static const signed char scores[20][20] = {
    {6, 2, 2, -1, -3, -1, 2, -3, -4, -3, -2, -3, -4, -1, -1, -1, -1, -3, -4, -3},
    {2, 7, 2, -2, -3, 0, -2, -3, -2, 2, -3, -2, -2, -4, -3, -2, -3, -4, -1, -1},
    {2, 2, 4, 1, -1, -3, -1, 0, -2, -2, -1, -1, -4, 2, 0, 2, 2, 1, -2, 0},
    {-1, -2, 1, 4, -1, 0, -2, 0, -3, -1, -2, -2, 2, -3, 2, 0, -4, -4, -3, -3},
    {-3, -3, -1, -1, 6, -2, -3, -1, -3, -2, 0, -1, -1, 0, -1, -3, -3, -1, -1, 1},
    {-1, 0, -3, 0, -2, 4, -1, -3, -2, -4, 0, 2, -1, -2, -2, -2, 0, -1, 0, -1},
    {2, -2, -1, -2, -3, -1, 5, -3, -1, -1, -4, -1, -4, -3, -4, 1, 0, -2, -3, -1},
    {-3, -3, 0, 0, -1, -3, -3, 4, -2, -1, 0, -3, 0, -2, -1, -1, -1, -3, 0, -3},
    {-4, -2, -2, -3, -3, -2, -1, -2, 6, -3, 1, -1, -1, -1, -3, -2, -4, 2, -1, -3},
    {-3, 2, -2, -1, -2, -4, -1, -1, -3, 5, 2, -1, -1, -1, -2, -3, -2, 0, -1, -1},
    {-2, -3, -1, -2, 0, 0, -4, 0, 1, 2, 7, 2, -1, 0, -1, -3, 2, -3, 2, -2},
    {-3, -2, -1, -2, -1, 2, -1, -3, -1, -1, 2, 5, 0, -1, 0, 1, 0, 1, 2, 0},
    {-4, -2, -4, 2, -1, -1, -4, 0, -1, -1, -1, 0, 4, 0, 0, -3, -1, -1, -1, 0},
    {-1, -4, 2, -3, 0, -2, -3, -2, -1, -1, 0, -1, 0, 6, -1, 2, -2, -3, -1, 0},
    {-1, -3, 0, 2, -1, -2, -4, -1, -3, -2, -1, 0, 0, -1, 5, 2, -1, -3, -2, -1},
    {-1, -2, 2, 0, -3, -2, 1, -1, -2, -3, -3, 1, -3, 2, 2, 6, 1, -1, -2, -3},
    {-1, -3, 2, -4, -3, 0, 0, -1, -4, -2, 2, 0, -1, -2, -1, 1, 8, -1, -1, -1},
    {-3, -4, 1, -4, -1, -1, -2, -3, 2, 0, -3, 1, -1, -3, -3, -1, -1, 5, -1, 2},
    {-4, -1, -2, -3, -1, 0, -3, 0, -1, -1, 2, 2, -1, -1, -2, -2, -1, -1, 5, 0},
    {-3, -1, 0, -3, 1, -1, -1, -3, -3, -1, -2, 0, 0, 0, -1, -3, -1, 2, 0, 4}};

void run(const signed char *restrict database, const int *restrict offsets, int *restrict best_score,
         int *restrict best_end, int sequences, int query_length, int gap_open, int gap_extend) {
    int profile[20][MAX_QUERY];
    for (int a = 0; a < 20; a++)
        for (int j = 0; j < query_length; j++)
            profile[a][j] = scores[a][query[j]];
    for (int id = 0; id < sequences; id++) {
        const signed char *letters = database + offsets[id];
        int length = offsets[id + 1] - offsets[id], best = 0, end = -1;
        int h_row[MAX_QUERY] = {0}, up[MAX_QUERY], e_row[MAX_QUERY] = {0};
        for (int i = 0; i < length; i++) {
            const int *score = profile[letters[i]];
            // what comes from the row before, in vectors; then what goes along the row
            up[0] = MAX(score[0], 0);
#pragma omp simd
            for (int j = 1; j < query_length; j++)
                up[j] = MAX(h_row[j - 1] + score[j], 0);
#pragma omp simd
            for (int j = 0; j < query_length; j++) {
                int e = MAX(e_row[j] - gap_extend, h_row[j] - gap_open);
                e_row[j] = e;
                up[j] = MAX(up[j], e);
            }
            int left = 0, f = 0, most = 0;
            for (int j = 0; j < query_length; j++) {
                f = MAX(f - gap_extend, left - gap_open);
                left = MAX(up[j], f);
                h_row[j] = left;
                most = MAX(most, left);
            }
            if (most > best) {
                best = most;
                end = i;
            }
        }
        best_score[id] = best;
        best_end[id] = end;
    }
}

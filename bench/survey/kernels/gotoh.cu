// Local alignment (Smith and Waterman, gaps by Gotoh): a thread for each sequence of a database; the query and the
// scores of pairs of amino acids are in constant memory, a row of the table is in each thread's own.
#define MAX_QUERY 64

__constant__ signed char query[MAX_QUERY] = {
    9, 11, 17, 8, 15, 8, 9, 10, 5, 18, 0, 15, 17, 8, 10, 8, 14, 9, 16, 11, 11, 8, 11, 13, 11, 5, 14, 11, 10, 16,
    4, 16, 5, 6, 11, 15, 9, 2, 13, 5, 19, 18, 16, 13, 9, 19, 17, 8, 0, 6, 5, 18, 14, 19, 5, 7, 5, 1, 15, 7};
__constant__ signed char scores[20][20] = {
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

extern "C" __global__ void gotoh(const signed char *database, const int *offsets, int *best_score, int *best_end,
                                 int sequences, int query_length, int gap_open, int gap_extend) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= sequences)
        return;
    short h_row[MAX_QUERY], e_row[MAX_QUERY];
    for (int j = 0; j < query_length; j++) {
        h_row[j] = 0;
        e_row[j] = 0;
    }
    int start = offsets[id], length = offsets[id + 1] - start;
    int best = 0, end = -1;
    for (int i = 0; i < length; i++) {
        int letter = database[start + i];
        int diagonal = 0, left = 0, f = 0;
        for (int j = 0; j < query_length; j++) {
            int e = max(e_row[j] - gap_extend, h_row[j] - gap_open);
            f = max(f - gap_extend, left - gap_open);
            int h = diagonal + scores[letter][query[j]];
            h = max(max(h, 0), max(e, f));
            diagonal = h_row[j];
            left = h;
            h_row[j] = h;
            e_row[j] = e;
            if (h > best) {
                best = h;
                end = i;
            }
        }
    }
    best_score[id] = best;
    best_end[id] = end;
}

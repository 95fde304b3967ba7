// Sudoku by depth-first search with bit masks, a thread a puzzle, state in arrays of the thread.
extern "C" __global__ void sudoku(const unsigned char *__restrict__ in, unsigned char *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned short row[9], col[9], box[9];
    unsigned char cell[81], open[81];
    int m = 0;
    for (int k = 0; k < 9; k++)
        row[k] = col[k] = box[k] = 0;
    for (int k = 0; k < 81; k++) {
        int d = in[i * 81 + k], r = k / 9, c = k % 9;
        cell[k] = d;
        if (d) {
            row[r] |= 1 << d, col[c] |= 1 << d, box[r / 3 * 3 + c / 3] |= 1 << d;
        } else
            open[m++] = k;
    }
    int at = 0;
    while (at >= 0 && at < m) {
        int k = open[at], r = k / 9, c = k % 9, b = r / 3 * 3 + c / 3, d = cell[k];
        if (d) {
            row[r] &= ~(1 << d), col[c] &= ~(1 << d), box[b] &= ~(1 << d);
        }
        int used = row[r] | col[c] | box[b];
        for (d++; d <= 9 && used >> d & 1; d++)
            ;
        if (d > 9) {
            cell[k] = 0;
            at--;
        } else {
            cell[k] = d;
            row[r] |= 1 << d, col[c] |= 1 << d, box[b] |= 1 << d;
            at++;
        }
    }
    for (int k = 0; k < 81; k++)
        out[i * 81 + k] = cell[k];
}

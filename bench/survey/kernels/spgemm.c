// The product of two sparse matrices by the same tables and the same network that sorts them, in both passes.
#include "native.h"
enum { TABLE = 2048, EMPTY = 0x7fffffff };

static inline int insert(int *keys, int key, int mask) {
    int slot = (key * 107) & mask;
    while (keys[slot] != key && keys[slot] != EMPTY)
        slot = (slot + 1) & mask;
    keys[slot] = key;
    return slot;
}

static int table_size(const int *a_start, const int *a_cols, const int *b_start, int row) {
    int products = 0, size = 32;
    for (int e = a_start[row]; e < a_start[row + 1]; e++)
        products += b_start[a_cols[e] + 1] - b_start[a_cols[e]];
    while (size <= products && size < TABLE)
        size *= 2;
    return size;
}

// Two runs of numbers, of each two of which the lesser goes to the first run (or to the second).
static inline void compare(int *restrict low, int *restrict high, double *restrict low_sum, double *restrict high_sum,
                           int count, int up) {
#pragma omp simd
    for (int i = 0; i < count; i++) {
        int x = low[i], y = high[i], swap = (x > y) == up;
        double s = low_sum[i], t = high_sum[i];
        low[i] = swap ? y : x, high[i] = swap ? x : y;
        low_sum[i] = swap ? t : s, high_sum[i] = swap ? s : t;
    }
}

void run(const int *restrict a_start, const int *restrict a_cols, const double *restrict a_values,
         const int *restrict b_start, const int *restrict b_cols, const double *restrict b_values,
         int *restrict row_count, int *restrict c_start, int *restrict c_cols, double *restrict c_values, int rows,
         int cols) {
    int keys[TABLE], at = 0;
    double sums[TABLE];
    for (int row = 0; row < rows; row++) {
        int size = table_size(a_start, a_cols, b_start, row), count = 0;
        for (int i = 0; i < size; i++)
            keys[i] = EMPTY;
        for (int e = a_start[row]; e < a_start[row + 1]; e++)
            for (int f = b_start[a_cols[e]]; f < b_start[a_cols[e] + 1]; f++)
                insert(keys, b_cols[f], size - 1);
        for (int i = 0; i < size; i++)
            count += keys[i] != EMPTY;
        row_count[row] = count;
        c_start[row] = at;
        at += count;
    }
    c_start[rows] = at;
    for (int row = 0; row < rows; row++) {
        int size = table_size(a_start, a_cols, b_start, row);
        for (int i = 0; i < size; i++)
            keys[i] = EMPTY, sums[i] = 0;
        for (int e = a_start[row]; e < a_start[row + 1]; e++) {
            int k = a_cols[e];
            double a = a_values[e];
            for (int f = b_start[k]; f < b_start[k + 1]; f++)
                sums[insert(keys, b_cols[f], size - 1)] += a * b_values[f];
        }
        for (int k = 2; k <= size; k *= 2)
            for (int j = k / 2; j > 0; j /= 2)
                for (int i = 0; i < size; i += 2 * j)
                    compare(keys + i, keys + i + j, sums + i, sums + i + j, j, (i & k) == 0);
        memcpy(c_cols + c_start[row], keys, row_count[row] * sizeof *keys);
        memcpy(c_values + c_start[row], sums, row_count[row] * sizeof *sums);
    }
}

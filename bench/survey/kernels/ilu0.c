// ILU(0) and Richardson's iteration, rows in their order.
#include "native.h"

void run(const int *restrict start, const int *restrict column, const int *restrict diagonal,
         const double *restrict value, const double *restrict b, double *restrict lu, double *restrict x,
         double *norm0, double *norm1, double *norm2,
         int rows, int sweeps) {
    memcpy(lu, value, start[rows] * sizeof(double));
    for (int row = 0; row < rows; row++)
        for (int e = start[row]; e < diagonal[row]; e++) {
            int k = column[e], mine = e + 1, end = start[row + 1];
            double factor = lu[e] /= lu[diagonal[k]];
            for (int other = diagonal[k] + 1; other < start[k + 1]; other++) {
                int c = column[other];
                while (mine < end && column[mine] < c)
                    mine++;
                if (mine == end)
                    break;
                if (column[mine] == c)
                    lu[mine] -= factor * lu[other];
            }
        }
    double *norms[] = {norm0, norm1, norm2};
    double *y = malloc(2L * rows * sizeof(double)), *z = y + rows;
    for (int s = 0; s < sweeps; s++) {
        double norm = 0;
        for (int row = 0; row < rows; row++) {
            double r = b[row];
            for (int e = start[row]; e < start[row + 1]; e++)
                r -= value[e] * x[column[e]];
            norm += r * r;
            for (int e = start[row]; e < diagonal[row]; e++)
                r -= lu[e] * y[column[e]];
            y[row] = r;
        }
        *norms[s] = norm;
        for (int row = rows - 1; row >= 0; row--) {
            double r = y[row];
            for (int e = diagonal[row] + 1; e < start[row + 1]; e++)
                r -= lu[e] * z[column[e]];
            z[row] = r / lu[diagonal[row]];
        }
        for (int row = 0; row < rows; row++)
            x[row] += z[row];
    }
    free(y);
}

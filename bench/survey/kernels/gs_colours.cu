// Gauss-Seidel on a sparse matrix by colours: rows of a colour do not need each other, a launch for each.
extern "C" __global__ void gs_colours(const int *__restrict__ row_start, const int *__restrict__ columns,
                                      const double *__restrict__ values, const double *__restrict__ rhs, double *x,
                                      const int *__restrict__ rows_by_colour, int first, int count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    int row = rows_by_colour[first + t];
    double sum = rhs[row], diagonal = 1.0;
    for (int e = row_start[row]; e < row_start[row + 1]; e++) {
        int c = columns[e];
        if (c == row)
            diagonal = values[e];
        else
            sum -= values[e] * x[c];
    }
    x[row] = sum / diagonal;
}

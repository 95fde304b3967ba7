// A sparse triangular system, a thread a row, which waits for the rows that it needs.
extern "C" __global__ void solve(const int *begin, const int *columns, const double *values, const double *b,
                                 volatile double *x, volatile int *done, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = b[i];
    int j = begin[i], end = begin[i + 1] - 1;
    while (j < end)
        if (done[columns[j]]) {
            __threadfence();
            sum -= values[j] * x[columns[j]];
            j++;
        }
    x[i] = sum / values[end];
    __threadfence();
    done[i] = 1;
}

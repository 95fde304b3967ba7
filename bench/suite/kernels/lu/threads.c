// The update's rows are shared out among threads.
#define run on_one
#include "spmd.c"
#undef run
#include "threads.h"

static REAL *matrix;
static int size, last;

static void part(int thread, int threads)
{
    int first = thread * (long)size / threads, end = (thread + 1) * (long)size / threads;
    for (int k = 0; k < last; k++) {
        for (int row = first > k ? first : k + 1; row < end; row++) {
            matrix[row * size + k] /= matrix[k * size + k];
            update(matrix + row * size, matrix + k * size, matrix[row * size + k], k + 1, size);
        }
        meet();
    }
}

void run(int threads, REAL *a, int n, int steps)
{
    matrix = a, size = n, last = steps;
    on_threads(threads);
}

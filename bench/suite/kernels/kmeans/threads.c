// Points are shared out among threads: each has a part of every dimension.
#define run on_one
#include "spmd.c"
#undef run
#include "threads.h"

static const REAL *all_points, *all_centres;
static int *all_labels, size, centres_in_all;

static void part(int thread, int threads)
{
    int first = thread * (long)size / threads, end = (thread + 1) * (long)size / threads;
    some(all_points, all_centres, all_labels, first, end, size, centres_in_all);
}

void run(int threads, const REAL *points, const REAL *centres, int *labels, int n, int count)
{
    all_points = points, all_centres = centres, all_labels = labels, size = n, centres_in_all = count;
    on_threads(threads);
}

// Transforms are shared out among threads.
#define run on_one
#include "spmd.c"
#undef run
#include "threads.h"

static REAL *reals, *imaginaries;
static const REAL *of_cosines, *of_sines;
static int count;

static void part(int thread, int threads)
{
    long first = thread * (long)count / threads, end = (thread + 1) * (long)count / threads;
    on_one(reals + first * N, imaginaries + first * N, of_cosines, of_sines, end - first);
}

void run(int threads, REAL *re, REAL *im, const REAL *cosines, const REAL *sines, int batch)
{
    reals = re, imaginaries = im, of_cosines = cosines, of_sines = sines, count = batch;
    on_threads(threads);
}

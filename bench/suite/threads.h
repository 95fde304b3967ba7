// Runs C on several threads. A file that includes this defines `part(thread, threads)`, which does one thread's
// part of the work, calls `meet()` where all must have come so far, and finds its arguments in variables of its
// own. `on_threads(n)` returns when all parts are done. Helpers spin for some milliseconds after that, so that
// nobody waits for one to wake up in the next run, and then sleep.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void part(int thread, int threads);

enum { SPINS = 400000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static _Atomic int wanted, ended, arrived, meetings;
static _Atomic unsigned turn; // its number, and in the lowest byte how many threads are wanted
static int started = 1;

struct Helper {
    int thread;
    unsigned seen;
};

static void meet(void)
{
    int meeting = atomic_load(&meetings), all = atomic_load(&wanted);
    if (atomic_fetch_add(&arrived, 1) == all - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&meetings, 1);
    } else
        while (atomic_load(&meetings) == meeting)
            __builtin_ia32_pause();
}

static void *helper(void *given)
{
    int thread = ((struct Helper *)given)->thread;
    unsigned seen = ((struct Helper *)given)->seen;
    for (;;) {
        for (int spins = 0; atomic_load(&turn) == seen && spins < SPINS; spins++)
            __builtin_ia32_pause();
        pthread_mutex_lock(&lock);
        while (atomic_load(&turn) == seen)
            pthread_cond_wait(&called, &lock);
        seen = atomic_load(&turn);
        pthread_mutex_unlock(&lock);
        if (thread < (int)(seen & 255)) {
            part(thread, seen & 255);
            atomic_fetch_add(&ended, 1);
        }
    }
    return 0;
}

static void on_threads(int threads)
{
    if (threads == 1) {
        atomic_store(&wanted, 1);
        part(0, 1);
        return;
    }
    for (pthread_t made; started < threads; started++) {
        struct Helper *given = malloc(sizeof *given);
        given->thread = started;
        given->seen = atomic_load(&turn);
        pthread_create(&made, 0, helper, given);
    }
    atomic_store(&wanted, threads);
    atomic_store(&ended, 0);
    pthread_mutex_lock(&lock);
    atomic_store(&turn, ((atomic_load(&turn) >> 8) + 1) << 8 | threads);
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&called);
    part(0, threads);
    while (atomic_load(&ended) < threads - 1)
        __builtin_ia32_pause();
}

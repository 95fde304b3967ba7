// Where a thread is, a thousand times a second of its processor time: for samples.py.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { MOST = 1 << 18 };
static uint64_t places[MOST];
static volatile uint32_t count;

static void note(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    if (count < MOST)
        places[count++] = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

void start(long microseconds) {
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    count = 0;
    sigaction(SIGPROF, &action, 0);
    setitimer(ITIMER_PROF, &timer, 0);
}

uint32_t stop(uint64_t *out) {
    struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &none, 0);
    memcpy(out, places, count * sizeof *places);
    return count;
}

// Events of a log that are serious enough, by service.
#include "native.h"

typedef struct {
    uint word;
    unsigned short service, size;
} event;

typedef struct {
    uint count, retried, worst, least;
    ull bytes;
} totals;

void run(const event *restrict events, totals *restrict all, uint *restrict severities, int64_t n, uint threshold) {
    for (int64_t i = 0; i < n; i++) {
        event e = events[i];
        uint latency = e.word & 0xfffff, severity = e.word >> 20 & 15, retried = e.word >> 24 & 1;
        if (severity < threshold)
            continue;
        totals *t = all + e.service;
        t->count++;
        t->retried += retried;
        t->worst = MAX(t->worst, latency);
        t->least = MIN(t->least, latency);
        t->bytes += e.size;
        severities[e.service] |= 1u << severity;
    }
}

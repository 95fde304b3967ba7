#include "native.h"

void run(const int *restrict first, const int *restrict after, const float *restrict duration,
         const int *restrict waits_for, double *restrict early, double *restrict late, uchar *restrict critical,
         double *restrict end, int n) {
    int *restrict waiting = malloc(n * sizeof(int)), *restrict queue = malloc(n * sizeof(int)), tail = 0;
    memcpy(waiting, waits_for, n * sizeof(int));
    memset(early, 0, n * sizeof(double));
    for (int t = 0; t < n; t++)
        if (!waiting[t])
            queue[tail++] = t;
    double last = *end;
    for (int head = 0; head < tail; head++) {
        int task = queue[head];
        double finish = early[task] + duration[task];
        last = MAX(last, finish);
        for (int e = first[task]; e < first[task + 1]; e++) {
            int next = after[e];
            early[next] = MAX(early[next], finish);
            if (!--waiting[next])
                queue[tail++] = next;
        }
    }
    *end = last;
    while (tail) {
        int task = queue[--tail];
        double latest = last;
        for (int e = first[task]; e < first[task + 1]; e++)
            latest = MIN(latest, late[after[e]]);
        late[task] = latest - duration[task];
        critical[task] = fabs(late[task] - early[task]) < 1e-9;
    }
    free(waiting);
    free(queue);
}

// An elevator in each of many buildings for some minutes: what floors are asked for are bits.
#include "native.h"
enum { FLOORS = 12, QUEUE = 8, CAPACITY = 6 };

typedef struct {
    int served, turned_away, moves;
    float mean_wait;
} Report;

typedef struct {
    short arrived[QUEUE];
    char target[QUEUE];
    int count;
} Floor;

static uint lcg(uint *s) {
    *s = *s * 1103515245u + 12345u;
    return (*s >> 16) & 0x7fff;
}

void run(const uint *restrict seeds, const uchar *restrict busy, Report *restrict reports, int buildings, int ticks) {
    for (int b = 0; b < buildings; b++) {
        uint seed = seeds[b], waiting = 0, wanted = 0;
        Floor floors[FLOORS];
        for (int f = 0; f < FLOORS; f++)
            floors[f].count = 0;
        char riders[CAPACITY];
        int num = 0, at = 0, timer = 0, direction = 1, total = 0;
        enum { IDLE, MOVING, DOORS } state = IDLE;
        Report r = {0};
        for (int now = 0; now < ticks; now++) {
            if (lcg(&seed) % 100 < busy[b]) {
                int from = lcg(&seed) % 3 == 0 ? 0 : lcg(&seed) % FLOORS, to = lcg(&seed) % FLOORS;
                Floor *f = floors + from;
                if (from == to)
                    ;
                else if (f->count == QUEUE)
                    r.turned_away++;
                else {
                    f->arrived[f->count] = now, f->target[f->count++] = to;
                    waiting |= 1u << from;
                }
            }
            if (state == IDLE) {
                if (!waiting)
                    continue;
                uint below = waiting & ((2u << at) - 1), above = waiting >> at;
                int down = below ? at - (31 - __builtin_clz(below)) : 99, up = above ? __builtin_ctz(above) : 99;
                if (down == 0)
                    state = DOORS, timer = 2;
                else
                    direction = down <= up ? -1 : 1, state = MOVING;
            } else if (state == MOVING) {
                at += direction;
                r.moves++;
                if ((wanted >> at & 1) || (num < CAPACITY && waiting >> at & 1))
                    state = DOORS, timer = 2;
                else if (at == 0 || at == FLOORS - 1)
                    state = IDLE;
            } else if (--timer == 0) {
                int kept = 0, taken = 0;
                for (int k = 0; k < num; k++)
                    if (riders[k] != at)
                        riders[kept++] = riders[k];
                r.served += num - kept;
                num = kept;
                wanted &= ~(1u << at);
                Floor *f = floors + at;
                for (; num < CAPACITY && taken < f->count; taken++) {
                    total += now - f->arrived[taken];
                    riders[num++] = f->target[taken];
                    wanted |= 1u << f->target[taken];
                }
                f->count -= taken;
                memmove(f->arrived, f->arrived + taken, f->count * sizeof *f->arrived);
                memmove(f->target, f->target + taken, f->count);
                if (!f->count)
                    waiting &= ~(1u << at);
                if (!num) {
                    state = IDLE;
                    continue;
                }
                if (!(direction > 0 ? wanted >> at >> 1 : wanted & ((1u << at) - 1)))
                    direction = -direction;
                state = MOVING;
            }
        }
        if (r.served + num > 0)
            r.mean_wait = (float)total / (r.served + num);
        reports[b] = r;
    }
}

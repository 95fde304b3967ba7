// An elevator in each of many buildings for some minutes: a state machine a thread, people who come at random, and
// how long they waited.
#define FLOORS 12
#define QUEUE 8
#define CAPACITY 6

enum State { IDLE, MOVING_UP, MOVING_DOWN, DOORS };

struct Person {
    short arrived;
    char target;
};

struct Floor {
    Person people[QUEUE];
    int count;
};

struct Report {
    int served, turned_away, moves;
    float mean_wait;
};

__device__ unsigned int lcg(unsigned int &s) {
    s = s * 1103515245u + 12345u;
    return (s >> 16) & 0x7fff;
}

extern "C" __global__ void elevator(const unsigned int *seeds, const unsigned char *busy, Report *reports,
                                    int buildings, int ticks) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= buildings)
        return;
    unsigned int seed = seeds[b];
    Floor floors[FLOORS];
    for (int f = 0; f < FLOORS; f++)
        floors[f].count = 0;
    Person riders[CAPACITY];
    int num_riders = 0, at = 0, timer = 0, direction = 1;
    State state = IDLE;
    Report r = {0, 0, 0, 0.0f};
    int total_wait = 0;

    for (int now = 0; now < ticks; now++) {
        if (lcg(seed) % 100 < busy[b]) {
            int from = lcg(seed) % 3 == 0 ? 0 : lcg(seed) % FLOORS;
            int to = lcg(seed) % FLOORS;
            if (from != to) {
                Floor &floor = floors[from];
                if (floor.count == QUEUE)
                    r.turned_away++;
                else {
                    floor.people[floor.count].arrived = now;
                    floor.people[floor.count].target = to;
                    floor.count++;
                }
            }
        }
        switch (state) {
        case IDLE: {
            int nearest = -1;
            for (int f = 0; f < FLOORS; f++)
                if (floors[f].count > 0 && (nearest == -1 || abs(f - at) < abs(nearest - at)))
                    nearest = f;
            if (nearest == -1)
                break;
            if (nearest == at) {
                state = DOORS;
                timer = 2;
            } else {
                direction = nearest > at ? 1 : -1;
                state = direction > 0 ? MOVING_UP : MOVING_DOWN;
            }
            break;
        }
        case MOVING_UP:
        case MOVING_DOWN: {
            at += direction;
            r.moves++;
            bool stop = num_riders < CAPACITY && floors[at].count > 0;
            for (int k = 0; k < num_riders; k++)
                if (riders[k].target == at)
                    stop = true;
            if (stop) {
                state = DOORS;
                timer = 2;
            } else if (at == 0 || at == FLOORS - 1)
                state = IDLE;
            break;
        }
        case DOORS: {
            if (--timer > 0)
                break;
            int kept = 0;
            for (int k = 0; k < num_riders; k++) {
                if (riders[k].target == at)
                    r.served++;
                else
                    riders[kept++] = riders[k];
            }
            num_riders = kept;
            Floor &floor = floors[at];
            int taken = 0;
            while (num_riders < CAPACITY && taken < floor.count) {
                Person p = floor.people[taken++];
                total_wait += now - p.arrived;
                riders[num_riders++] = p;
            }
            for (int k = taken; k < floor.count; k++)
                floor.people[k - taken] = floor.people[k];
            floor.count -= taken;
            if (num_riders == 0) {
                state = IDLE;
                break;
            }
            bool ahead = false;
            for (int k = 0; k < num_riders; k++)
                if ((riders[k].target - at) * direction > 0)
                    ahead = true;
            if (!ahead)
                direction = -direction;
            state = direction > 0 ? MOVING_UP : MOVING_DOWN;
            break;
        }
        }
    }
    if (r.served + num_riders > 0)
        r.mean_wait = (float)total_wait / (r.served + num_riders);
    reports[b] = r;
}

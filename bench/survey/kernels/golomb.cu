// Golomb rulers counted by workers (a warp each) that have deques of tasks under locks and steal from each other: marks
// and distances are sets of bits, lanes try the next gaps, small subtrees are searched by a lane with its own stack.
#define CAPACITY 256
#define MAX_MARKS 12

typedef unsigned long long u64;

struct Task {
    u64 distances, list;  // measured ones, and those from the last mark
    short length, marks;
};

struct Deque {
    Task tasks[CAPACITY];
    int first, last;  // thieves take at first, the owner works at last
    int lock;
    int pad;
};

struct Rules {
    short marks, longest, shared, pad;  // tasks of fewer marks than `shared` are offered to others
};

__device__ void acquire(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0)
        __nanosleep(20);
    __threadfence();
}

__device__ void release(int *lock) {
    __threadfence();
    atomicExch(lock, 0);
}

__device__ bool take(Deque *deque, bool steal, Task *task) {
    volatile Deque *d = deque;
    if (d->first == d->last)
        return false;
    acquire(&deque->lock);
    int first = d->first, last = d->last;
    bool any = first != last;
    if (any) {
        volatile Task *from = steal ? &d->tasks[first % CAPACITY] : &d->tasks[(last - 1) % CAPACITY];
        task->distances = from->distances;
        task->list = from->list;
        task->length = from->length;
        task->marks = from->marks;
        if (steal)
            d->first = first + 1;
        else
            d->last = last - 1;
    }
    release(&deque->lock);
    return any;
}

__device__ __forceinline__ int longest_gap(const Task &t, Rules rules) {
    int left = rules.marks - t.marks - 1;
    return rules.longest - t.length - left * (left + 1) / 2;
}

__device__ __forceinline__ bool extended(const Task &t, int gap, Task &child) {
    child.list = t.list << gap | 1ull << (gap - 1);
    if (child.list & t.distances)
        return false;
    child.distances = t.distances | child.list;
    child.length = t.length + gap;
    child.marks = t.marks + 1;
    return true;
}

__device__ void search(const Task &root, Rules rules, u64 &found, u64 &nodes) {
    Task stack[MAX_MARKS];
    unsigned char gap[MAX_MARKS];
    int depth = 0;
    stack[0] = root;
    gap[0] = 0;
    do {
        const Task &t = stack[depth];
        if (++gap[depth] > longest_gap(t, rules)) {
            depth--;
            continue;
        }
        Task child;
        if (!extended(t, gap[depth], child))
            continue;
        nodes++;
        if (child.marks == rules.marks) {
            found++;
            continue;
        }
        depth++;
        stack[depth] = child;
        gap[depth] = 0;
    } while (depth >= 0);
}

extern "C" __global__ void golomb_start(Deque *deques, int *outstanding) {
    Deque *d = deques + threadIdx.x;
    d->first = d->lock = 0;
    d->last = threadIdx.x == 0;
    if (threadIdx.x == 0) {
        Task root = {0, 0, 0, 1};
        d->tasks[0] = root;
        *outstanding = 1;
    }
}

extern "C" __global__ void golomb(Deque *deques, int *outstanding, u64 *totals, Rules rules) {
    __shared__ Task task, offered[32];
    const int lane = threadIdx.x, me = blockIdx.x, workers = gridDim.x;
    u64 found = 0, nodes = 0;
    while (true) {
        bool have = false;
        if (lane == 0) {
            have = take(deques + me, false, &task);
            for (int k = 1; k < workers && !have; k++)
                have = take(deques + (me + k) % workers, true, &task);
        }
        if (!__shfl_sync(0xffffffff, have, 0)) {
            int left = 0;
            if (lane == 0)
                left = atomicAdd(outstanding, 0);
            if (__shfl_sync(0xffffffff, left, 0) == 0)
                break;
            __nanosleep(200);
            continue;
        }
        __syncwarp();
        const Task mine = task;
        const int most = longest_gap(mine, rules);
        for (int first = 1; first <= most; first += 32) {
            int gap = first + lane;
            Task child;
            bool valid = gap <= most && extended(mine, gap, child);
            bool offer = valid && child.marks < rules.shared && child.marks < rules.marks;
            unsigned offers = __ballot_sync(0xffffffff, offer);
            if (offer)
                offered[__popc(offers & ((1u << lane) - 1))] = child;
            __syncwarp();
            if (lane == 0 && offers) {
                int count = __popc(offers);
                atomicAdd(outstanding, count);
                volatile Deque *d = deques + me;
                acquire(&deques[me].lock);
                int last = d->last;
                for (int k = 0; k < count; k++) {
                    volatile Task *to = &d->tasks[(last + k) % CAPACITY];
                    to->distances = offered[k].distances;
                    to->list = offered[k].list;
                    to->length = offered[k].length;
                    to->marks = offered[k].marks;
                }
                d->last = last + count;
                release(&deques[me].lock);
            }
            __syncwarp();
            if (valid) {
                nodes++;
                if (child.marks == rules.marks)
                    found++;
                else if (!offer)
                    search(child, rules, found, nodes);
            }
            __syncwarp();
        }
        if (lane == 0)
            atomicSub(outstanding, 1);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        found += __shfl_down_sync(0xffffffff, found, offset);
        nodes += __shfl_down_sync(0xffffffff, nodes, offset);
    }
    if (lane == 0) {
        atomicAdd(&totals[0], found);
        atomicAdd(&totals[1], nodes);
    }
}

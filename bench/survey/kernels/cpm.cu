// The critical path of a project: tasks that wait for others start as early as they can, level by level of a queue
// (atomicMax of doubles by atomicCAS), then levels backwards for how late they may start.
__device__ double atomicMaxDouble(double *address, double value) {
    unsigned long long *as_bits = (unsigned long long *)address;
    unsigned long long old = *as_bits, assumed;
    do {
        assumed = old;
        if (__longlong_as_double(assumed) >= value)
            break;
        old = atomicCAS(as_bits, assumed, __double_as_longlong(value));
    } while (assumed != old);
    return __longlong_as_double(old);
}

// level_start[0] is 0; level_start[1] counts those that wait for nothing
extern "C" __global__ void find_ready(const int *waits_for, int *waiting, double *early, int *queue, int *level_start,
                                      int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    early[t] = 0.0;
    waiting[t] = waits_for[t];
    if (waits_for[t] == 0)
        queue[atomicAdd(&level_start[1], 1)] = t;
}

extern "C" __global__ void open_level(int *level_start, int level) {
    level_start[level + 2] = level_start[level + 1];
}

extern "C" __global__ void forward(const int *first, const int *after, const float *duration, int *waiting,
                                   double *early, int *queue, int *level_start, int level) {
    int i = level_start[level] + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= level_start[level + 1])
        return;
    int task = queue[i];
    double finish = early[task] + duration[task];
    for (int e = first[task]; e < first[task + 1]; e++) {
        int next = after[e];
        atomicMaxDouble(&early[next], finish);
        if (atomicSub(&waiting[next], 1) == 1)
            queue[atomicAdd(&level_start[level + 2], 1)] = next;
    }
}

extern "C" __global__ void project_end(const double *early, const float *duration, double *end, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n)
        atomicMaxDouble(end, early[t] + duration[t]);
}

extern "C" __global__ void backward(const int *first, const int *after, const float *duration, const double *early,
                                    const int *queue, const int *level_start, const double *end, double *late,
                                    bool *critical, int level) {
    int i = level_start[level] + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= level_start[level + 1])
        return;
    int task = queue[i];
    double latest = *end;
    for (int e = first[task]; e < first[task + 1]; e++)
        latest = fmin(latest, late[after[e]]);
    late[task] = latest - duration[task];
    critical[task] = fabs(late[task] - early[task]) < 1e-9;
}

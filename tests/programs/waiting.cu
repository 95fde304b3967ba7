// Threads that wait for other threads: locks, flags, barriers in divergent code.

extern "C" __global__ void spin_lock(int *lock, int *count, int *ticket) {
    // Lanes of one warp compete too: the one that holds the lock must get on.
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    int mine = *(volatile int *)count;
    *(volatile int *)count = mine + 1;
    __threadfence();
    atomicExch(lock, 0);
    ticket[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

extern "C" __global__ void wait_for_flag(volatile int *flag, volatile int *box, int *out) {
    // The first warp waits for the second.
    if (threadIdx.x < 32) {
        while (*flag == 0) {
        }
        out[threadIdx.x] = *box + threadIdx.x;
    } else if (threadIdx.x == 32) {
        *box = 42;
        __threadfence();
        *flag = 1;
    }
    __syncthreads();
    out[blockDim.x + threadIdx.x] = out[threadIdx.x % 32];
}

extern "C" __global__ void turns(int *turn, int *order) {
    // Every lane waits for the lane behind it: the last one goes first.
    int me = blockDim.x - 1 - threadIdx.x;
    while (atomicAdd(turn, 0) != me) {
    }
    order[me] = threadIdx.x;
    __threadfence();
    atomicAdd(turn, 1);
}

extern "C" __global__ void two_barriers(const int *in, int *out) {
    // Odd and even lanes come to the same barrier at two places.
    __shared__ int box[128];
    int t = threadIdx.x, n = blockDim.x, found;
    box[t] = in[t];
    if (t % 2) {
        __syncthreads();
        found = box[n - 1 - t] * 3;
    } else {
        __syncthreads();
        found = box[(t + 1) % n] + 5;
    }
    __syncthreads();
    box[t] = found;
    __syncthreads();
    out[t] = box[(t + 5) % n];
}

extern "C" __global__ void rounds(int *out, int n) {
    // A barrier in a loop, with divergent work around it.
    __shared__ int box[128];
    int t = threadIdx.x, size = blockDim.x, sum = t;
    for (int i = 0; i < n; i++) {
        box[t] = sum;
        __syncthreads();
        sum += box[(t + i) % size];
        __syncthreads();
        if (sum & 1) sum += 3;
    }
    out[t] = sum;
}

extern "C" __global__ void some_leave(int *out, int left) {
    // Threads that have returned are not waited for.
    __shared__ int box[128];
    int t = threadIdx.x;
    box[t] = 7 * t;
    if (t >= left) return;
    __syncthreads();
    out[t] = box[(t + 1) % left];
}

extern "C" __global__ void add_doubles(double *total, const double *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long *place = (unsigned long long *)total, old = *place, seen;
    do {
        seen = old;
        old = atomicCAS(place, seen, __double_as_longlong(values[i] + __longlong_as_double(seen)));
    } while (seen != old);
}

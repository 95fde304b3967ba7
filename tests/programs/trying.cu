// Lanes that try again until they get what other lanes of their warp have: in debug builds the end of such a loop
// is put together from variables.

extern "C" __global__ void tries(int *lock, int *count, int *missed) {
    // So many tries that nobody goes without.
    bool mine = false;
    int k = 0;
    while (!mine && k < 1000000) {
        mine = atomicCAS(lock, 0, 1) == 0;
        k++;
    }
    if (!mine) {
        atomicAdd(missed, 1);
        return;
    }
    ++*(volatile int *)count;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void rows(const int *begin, const int *needed, volatile unsigned *value, volatile int *done) {
    // Each row is one more than the sum of the rows that it needs, most of them of its own warp.
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = begin[i], end = begin[i + 1];
    unsigned sum = 1;
    while (j < end)
        if (done[needed[j]]) {
            __threadfence();
            sum += value[needed[j]];
            j++;
        }
    value[i] = sum;
    __threadfence();
    done[i] = 1;
}

// Threads that pass a semaphore of few permits, by compare and swap: who finds none tries the same again.
extern "C" __global__ void semaphore(int *permits, int *inside, int *most, int *count) {
    int old = *(volatile int *)permits, seen;
    do {
        seen = old;
        old = atomicCAS(permits, seen, seen > 0 ? seen - 1 : seen);
    } while (old != seen || seen == 0);
    atomicMax(most, atomicAdd(inside, 1) + 1);
    __threadfence();
    atomicAdd(count, 1);
    atomicSub(inside, 1);
    __threadfence();
    atomicAdd(permits, 1);
}

// Threads that each take one of a few places, write there, and give it back.
extern "C" __global__ void places(int *taken, int *written, int n) {
    int place = threadIdx.x % n;
    while (atomicCAS(&taken[place], 0, 1) != 0)
        place = (place + 1) % n;
    __threadfence();
    *(volatile int *)&written[place] = written[place] + 1;
    __threadfence();
    atomicExch(&taken[place], 0);
}

__device__ int root(const int *parent, int x) {
    int p;
    while ((p = *(volatile const int *)&parent[x]) != x)
        x = p;
    return x;
}

// Sets of which each thread makes two one; nobody waits for anybody.
extern "C" __global__ void unite(int *parent, const int2 *pairs, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int a = pairs[i].x, b = pairs[i].y, old;
    do {
        a = root(parent, a);
        b = root(parent, b);
        if (a == b)
            break;
        if (a < b) {
            int c = a;
            a = b;
            b = c;
        }
        old = atomicMin(&parent[a], b);
        if (old == a)
            break;
        a = old;
    } while (true);
}

extern "C" __global__ void roots(const int *parent, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = root(parent, i);
}

// Keys counted in a table of open addresses, cleared by the CTA before.
extern "C" __global__ void count_keys(const int *keys, int n, int *found, int *counts) {
    __shared__ int table[128], count[128];
    table[threadIdx.x] = -1;
    count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int key = keys[i], at = key * 61 & 127, old;
        while ((old = atomicCAS(&table[at], -1, key)) != -1 && old != key)
            at = at + 1 & 127;
        atomicAdd(&count[at], 1);
    }
    __syncthreads();
    found[threadIdx.x] = table[threadIdx.x];
    counts[threadIdx.x] = count[threadIdx.x];
}

// Lists of numbers that hang at heads, each thread's put first.
extern "C" __global__ void push(int *heads, int *next, int lists, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int old = heads[i % lists], seen;
    do {
        seen = old;
        next[i] = seen;
        __threadfence();
        old = atomicCAS(&heads[i % lists], seen, i);
    } while (old != seen);
}

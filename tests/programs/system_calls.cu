// Calls of the system from device code: printf, assert, malloc and free, new and delete.

#include <cassert>
#include <cstdio>
#include <cstdlib>

// Every third thread says who it is; the others print nothing.
extern "C" __global__ void greet(const char *name, int n, int *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 3 == 0)
        results[i] = printf("%s %d of %d: %5.2f%%\n", name, i, n, 100.0f * i / n);
}

// Phases that a barrier separates, each printed by one thread of every warp.
extern "C" __global__ void phases(int count) {
    for (int phase = 0; phase < count; ++phase) {
        if (threadIdx.x % 32 == 7)
            printf("CTA %d, phase %d, warp %d\n", blockIdx.x, phase, threadIdx.x / 32);
        __syncthreads();
    }
}

// The path of a number down to 1, printed on the way back.
__device__ __noinline__ int collatz(int n, int depth) {
    if (n == 1)
        return depth;
    int steps = collatz(n % 2 ? 3 * n + 1 : n / 2, depth + 1);
    printf("[%d] %*d\n", threadIdx.x, depth + 4, n);
    return steps;
}

extern "C" __global__ void paths(const int *start, int *steps) {
    steps[threadIdx.x] = collatz(start[threadIdx.x], 0);
}

extern "C" __global__ void positive(const int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        assert(values[i] > 0);
}

// Every thread keeps a list of the multiples of its number on the heap, then adds them up.
struct Node {
    int value;
    Node *next;
};

__device__ __noinline__ Node *multiples(int n, int limit) {
    Node *list = nullptr;
    for (int m = n; m < limit; m += n) {
        Node *node = new Node;
        node->value = m;
        node->next = list;
        list = node;
    }
    return list;
}

extern "C" __global__ void sums_of_multiples(int *sums, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Node *list = multiples(i + 1, limit);
    int sum = 0;
    while (list) {
        Node *next = list->next;
        sum += list->value;
        delete list;
        list = next;
    }
    sums[i] = sum;
}

// Memory lives on after the kernel that took it.
extern "C" __global__ void take(void **blocks, size_t bytes) {
    blocks[blockIdx.x * blockDim.x + threadIdx.x] = malloc(bytes);
}

extern "C" __global__ void fill(int **blocks, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int w = 0; w < words; ++w)
        blocks[i][w] = i * words + w;
}

extern "C" __global__ void collect(int **blocks, int words, int *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int w = 0; w < words; ++w)
        values[i * words + w] = blocks[i][w];
}

extern "C" __global__ void give(void **blocks) {
    free(blocks[blockIdx.x * blockDim.x + threadIdx.x]);
}

// Virtual functions: their tables name the function for pure ones.
struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};

struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};

struct Right : Shape {
    float a, b;
    __device__ Right(float x, float y) : a(x), b(y) {}
    __device__ float area() const override { return a * b / 2; }
};

extern "C" __global__ void areas(const float *a, const float *b, float *result) {
    int i = threadIdx.x;
    Shape *shape;
    if (b[i] == 0)
        shape = new Square(a[i]);
    else
        shape = new Right(a[i], b[i]);
    result[i] = shape->area();
    delete shape;
}

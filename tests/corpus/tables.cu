// Virtual functions, function pointers, strings, tables of addresses, managed and constant data.
#include <cstdio>
struct Shape { int a; double b; float c[3]; };
struct Base { virtual __device__ float area(int) const = 0; };
struct Square : Base { __device__ float area(int x) const override { return x * 2.f; } };
__device__ Square square;
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ const char *words[3] = {"a", "bc", "hello\n"};
__managed__ int counter = 5;
__device__ int values[4];
__device__ int *second = values + 1;
typedef int (*Step)(int);
__device__ int increment(int x) { return x + 1; }
__device__ int triple(int x) { return x * 3; }
__device__ Step steps[2] = {increment, triple};
__device__ __noinline__ float weigh(float x, Shape s) { return x * s.c[1] + s.b; }
__global__ void __launch_bounds__(128, 2) table_kernel(float *out, int n, Shape s) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    const Base *b = &square;
    out[i] = weigh(i, s) + b->area(i) + steps[i & 1](i) + weights[i & 3] + *second;
    if (out[i] > 5) printf("%d %f %s\n", i, out[i], words[i % 3]);
    atomicAdd(&counter, 1);
}

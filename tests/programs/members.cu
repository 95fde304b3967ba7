// Pointers to members: plain, virtual and inherited functions, chosen by each thread. In memory a pointer to a
// virtual function is an odd number, one to a plain function its address, which must be even.

struct Step {
    int size;
    __device__ Step(int size) : size(size) {}
    __device__ __noinline__ int forth(int x) { return x + size; }
    __device__ __noinline__ int back(int x) { return x - size; }
    __device__ __noinline__ int times(int x) { return x * size; }
    __device__ virtual int turn(int x) { return x ^ size; }
};

struct Leap : Step {
    __device__ Leap(int size) : Step(size) {}
    __device__ int turn(int x) override { return ~x + size; }
};

typedef int (Step::*Method)(int);

__device__ Method table[4] = {&Step::forth, &Step::back, &Step::times, &Step::turn};

extern "C" __global__ void call_members(const int *choices, const int *values, int *results, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Step step(i + 1);
    Leap leap(i + 2);
    Step *object = i % 3 ? &step : &leap;
    results[i] = (object->*table[choices[i]])(values[i]);
}

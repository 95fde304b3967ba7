// Device functions kept as calls: scalars, structures, pointers to locals, pointers to functions.
struct Fraction {
    long long numerator, denominator;
};

__device__ __noinline__ unsigned gcd(unsigned a, unsigned b)
{
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

__device__ __noinline__ Fraction add(Fraction a, Fraction b)
{
    return {a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator};
}

__device__ __noinline__ void sort3(short *v)
{
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2 - i; ++j)
            if (v[j] > v[j + 1]) {
                short t = v[j];
                v[j] = v[j + 1];
                v[j + 1] = t;
            }
}

extern "C" __global__ void call_functions(const unsigned *a, const unsigned *b, unsigned *divisors, Fraction *sums,
                                          short *triples, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    divisors[i] = gcd(a[i], b[i]);
    Fraction p = {a[i], 3}, q = {b[i], 1 + i};
    sums[i] = i % 3 ? add(p, q) : add(q, add(p, p));
    short v[3] = {triples[3 * i], triples[3 * i + 1], triples[3 * i + 2]};
    sort3(v);
    for (int j = 0; j < 3; ++j)
        triples[3 * i + j] = v[j];
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int lower(int a, int b) { return a < b ? a : b; }
__device__ Operation operations[4] = {plus, minus, times, lower};

extern "C" __global__ void call_pointers(const int *choice, const int *a, const int *b, int *result, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = operations[choice[i]](a[i], b[i]);
}

__device__ __noinline__ int sum_over_cta(int value)
{
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    atomicAdd(&total, value);
    __syncthreads();
    int sum = total;
    __syncthreads();
    return sum;
}

// A barrier inside a function that is called twice.
extern "C" __global__ void call_barriers(const int *values, int *result, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int first = sum_over_cta(i < n ? values[i] : 0);
    int second = sum_over_cta(first % (threadIdx.x + 1));
    if (i < n)
        result[i] = first + 1000 * second;
}

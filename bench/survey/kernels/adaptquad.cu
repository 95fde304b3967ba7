// Adaptive quadrature: a block has an integral and a stack of intervals in shared memory; in each round its threads take
// intervals off, and accept them or put both halves back. What is integrated is a functor.
#define THREADS 96
#define CAPACITY 1536

struct Parameters {
    int kind;
    float pad;
    double a, b, low, high;
};

struct Peak {
    double a, b;
    __device__ double operator()(double x) const { return 1.0 / (a + (x - b) * (x - b)); }
};

struct Corner {
    double a, b;
    __device__ double operator()(double x) const { return sqrt(fabs(x - b)) * (1.0 + a * x * x); }
};

struct Comb {
    double a, b;
    __device__ double operator()(double x) const {
        double y = x * b, z = y - floor(y) - 0.5;
        return x / (a + z * z);
    }
};

struct Interval {
    double left, right;
};

template <class F> __device__ __forceinline__ double simpson(F f, double l, double r) {
    return (f(l) + 4.0 * f(0.5 * (l + r)) + f(r)) * (r - l) / 6.0;
}

template <class F>
__device__ double integrate(F f, double low, double high, double tolerance, Interval *stack, int *top, int &accepted) {
    double sum = 0.0;
    const double scale = tolerance / (high - low);
    if (threadIdx.x == 0) {
        stack[0] = Interval{low, high};
        *top = 1;
    }
    __syncthreads();
    while (true) {
        int held = *top;
        if (held == 0)
            break;
        int taken = min(held, (int)blockDim.x);
        Interval mine;
        if (threadIdx.x < taken)
            mine = stack[held - 1 - threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0)
            *top = held - taken;
        __syncthreads();
        if (threadIdx.x < taken) {
            double middle = 0.5 * (mine.left + mine.right), width = mine.right - mine.left;
            double whole = simpson(f, mine.left, mine.right);
            double halves = simpson(f, mine.left, middle) + simpson(f, middle, mine.right);
            double error = (halves - whole) / 15.0;
            if (fabs(error) <= scale * width || width < 1e-9) {
                sum += halves + error;
                accepted++;
            } else {
                int place = atomicAdd(top, 2);
                stack[place] = Interval{mine.left, middle};
                stack[place + 1] = Interval{middle, mine.right};
            }
        }
        __syncthreads();
    }
    return sum;
}

extern "C" __global__ void adaptquad(const Parameters *__restrict__ parameters, double *__restrict__ integrals,
                                     int *__restrict__ pieces, double tolerance) {
    __shared__ Interval stack[CAPACITY];
    __shared__ int top;
    __shared__ double sums[THREADS / 32];
    __shared__ int counts[THREADS / 32];
    Parameters p = parameters[blockIdx.x];
    int accepted = 0;
    double sum;
    switch (p.kind) {
    case 0:
        sum = integrate(Peak{p.a, p.b}, p.low, p.high, tolerance, stack, &top, accepted);
        break;
    case 1:
        sum = integrate(Corner{p.a, p.b}, p.low, p.high, tolerance, stack, &top, accepted);
        break;
    default:
        sum = integrate(Comb{p.a, p.b}, p.low, p.high, tolerance, stack, &top, accepted);
    }
    accepted = __reduce_add_sync(0xffffffff, accepted);
    for (int delta = 16; delta > 0; delta /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, delta);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        counts[threadIdx.x / 32] = accepted;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++) {
            sum += sums[w];
            accepted += counts[w];
        }
        integrals[blockIdx.x] = sum;
        pieces[blockIdx.x] = accepted;
    }
}

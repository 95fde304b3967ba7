// The range (highest less lowest) of a sliding window over many series: two monotonic queues a thread, ring buffers in
// local memory; each thread has a stretch of one series and begins a window before it.
#include <cuda/std/functional>

template <class T, int N> class Ring {
    static_assert((N & (N - 1)) == 0, "a power of two");
    T items[N];
    unsigned head = 0, tail = 0;

public:
    __device__ bool empty() const { return head == tail; }
    __device__ T &front() { return items[head & (N - 1)]; }
    __device__ T &back() { return items[(tail - 1) & (N - 1)]; }
    __device__ void push_back(const T &v) { items[tail++ & (N - 1)] = v; }
    __device__ void pop_back() { tail--; }
    __device__ void pop_front() { head++; }
};

struct Sample {
    int when;
    short value;
};

template <class Better, int N> class Extreme {
    Ring<Sample, N> queue;
    Better better;

public:
    __device__ short operator()(int when, short value, int window) {
        while (!queue.empty() && !better(queue.back().value, value))
            queue.pop_back();
        queue.push_back({when, value});
        if (queue.front().when <= when - window)
            queue.pop_front();
        return queue.front().value;
    }
};

constexpr int MOST = 64;

extern "C" __global__ void deque_max(const short *__restrict__ series, int *__restrict__ range, int count, int length,
                                     int window, int stretch) {
    int which = blockIdx.y;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * stretch;
    if (which >= count || first >= length)
        return;
    const short *in = series + static_cast<long long>(which) * length;
    int *out = range + static_cast<long long>(which) * length;
    Extreme<cuda::std::greater<short>, MOST> highest;
    Extreme<cuda::std::less<short>, MOST> lowest;
    int last = min(first + stretch, length);
    for (int t = max(first - window + 1, 0); t < last; t++) {
        short v = in[t];
        int high = highest(t, v, window), low = lowest(t, v, window);
        if (t >= first)
            out[t] = high - low;
    }
}

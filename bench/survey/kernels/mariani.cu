// The Mandelbrot set after Mariani and Silver: a square whose border has one dwell is filled, another is split in
// four. Blocks stay and take squares from a queue in memory, to which they add.
#include <cub/block/block_reduce.cuh>
#include <cuda/atomic>
#include <cuda/std/cstdint>

namespace {

constexpr int kThreads = 64;
constexpr int kSmallest = 16;

template <class T>
using DeviceRef = cuda::atomic_ref<T, cuda::thread_scope_device>;

struct __align__(8) Square {
    uint16_t x, y, size, unused;
};

struct Queue {
    Square *squares;
    uint32_t *ready;  // whether a place is filled
    uint32_t *head, *tail;
    int *pending;  // squares that are neither done nor split

    __device__ void push(Square square) const {
        const uint32_t at = DeviceRef<uint32_t>(*tail).fetch_add(1, cuda::memory_order_relaxed);
        squares[at] = square;
        DeviceRef<uint32_t>(ready[at]).store(1, cuda::memory_order_release);
    }

    __device__ bool pop(Square &square) const {
        const uint32_t at = DeviceRef<uint32_t>(*head).fetch_add(1, cuda::memory_order_relaxed);
        while (DeviceRef<uint32_t>(ready[at]).load(cuda::memory_order_acquire) == 0) {
            if (DeviceRef<int>(*pending).load(cuda::memory_order_acquire) == 0)
                return false;
            __nanosleep(20);
        }
        square = squares[at];
        return true;
    }

    __device__ void split(Square s) const {
        const uint16_t half = s.size / 2;
        DeviceRef<int>(*pending).fetch_add(4, cuda::memory_order_relaxed);
        for (int k = 0; k < 4; ++k)
            push({static_cast<uint16_t>(s.x + (k & 1) * half), static_cast<uint16_t>(s.y + (k >> 1) * half), half, 0});
    }

    __device__ void done() const { DeviceRef<int>(*pending).fetch_sub(1, cuda::memory_order_acq_rel); }
};

struct View {
    double left, top, step;
    int limit;

    __device__ int dwell(int px, int py) const {
        const double cx = left + px * step, cy = top + py * step;
        double x = cx, y = cy;
        int n = 0;
        while (n < limit && x * x + y * y < 4.0) {
            const double t = x * x - y * y + cx;
            y = 2.0 * x * y + cy;
            x = t;
            ++n;
        }
        return n;
    }
};

enum Dwells { kAny = -1, kDifferent = -2 };

struct Same {
    __device__ int operator()(int a, int b) const { return a == kAny ? b : b == kAny ? a : a == b ? a : kDifferent; }
};

__device__ int border_dwell(const View &view, const Square &s) {
    const int side = s.size - 1;
    int common = kAny;
    for (int i = threadIdx.x; i < 4 * side && common != kDifferent; i += kThreads) {
        const int at = i % side;
        int x, y;
        switch (i / side) {
        case 0:
            x = at, y = 0;
            break;
        case 1:
            x = side, y = at;
            break;
        case 2:
            x = side - at, y = side;
            break;
        default:
            x = 0, y = side - at;
        }
        common = Same()(common, view.dwell(s.x + x, s.y + y));
    }
    return common;
}

}  // namespace

extern "C" __global__ void mariani_init(Square *squares, uint32_t *ready, uint32_t *counters, int *pending, int size,
                                        int first, int capacity) {
    const int across = size / first, count = across * across;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < capacity; i += gridDim.x * blockDim.x) {
        ready[i] = i < count;
        if (i < count)
            squares[i] = {static_cast<uint16_t>(i % across * first), static_cast<uint16_t>(i / across * first),
                          static_cast<uint16_t>(first), 0};
        if (i == 0) {
            counters[0] = 0;
            counters[1] = count;
            *pending = count;
        }
    }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    mariani_work(Square *squares, uint32_t *ready, uint32_t *counters, int *pending, uint16_t *image, int size,
                 double left, double top, double step, int limit) {
    using Reduce = cub::BlockReduce<int, kThreads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ Square square;
    __shared__ bool more;
    __shared__ int common;
    const Queue queue{squares, ready, counters, counters + 1, pending};
    const View view{left, top, step, limit};
    for (;;) {
        if (threadIdx.x == 0)
            more = queue.pop(square);
        __syncthreads();
        if (!more)
            return;
        const Square s = square;
        const int found = Reduce(storage).Reduce(border_dwell(view, s), Same());
        if (threadIdx.x == 0)
            common = found;
        __syncthreads();
        const int dwell = common;
        if (dwell == kDifferent && s.size > kSmallest) {
            if (threadIdx.x == 0)
                queue.split(s);
        } else {
            for (int i = threadIdx.x; i < s.size * s.size; i += kThreads) {
                const int x = s.x + i % s.size, y = s.y + i / s.size;
                image[y * size + x] = dwell == kDifferent ? view.dwell(x, y) : dwell;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0)
            queue.done();
    }
}

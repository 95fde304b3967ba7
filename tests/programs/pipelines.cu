// Barriers in shared memory (cuda::barrier) and pipelines of asynchronous copies (cuda::pipeline).
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#pragma nv_diag_suppress static_var_with_dynamic_init

using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Every thread reads what one of another warp wrote, in three phases.
extern "C" __global__ void neighbours(int *y)
{
    __shared__ Barrier b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    y[threadIdx.x] = threadIdx.x;
    b.arrive_and_wait();
    int v = y[(threadIdx.x + 33) % blockDim.x];
    b.arrive_and_wait();
    y[threadIdx.x] = v + 1;
    auto token = b.arrive();
    b.wait(std::move(token));
}

// One copy for each thread, of which the barrier knows.
extern "C" __global__ void copies(const int *x, int *y)
{
    extern __shared__ int s[];
    __shared__ Barrier b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x, sizeof(int), b);
    b.arrive_and_wait();
    y[threadIdx.x] = s[(threadIdx.x + 33) % blockDim.x];
}

// A pipeline of each thread's own.
extern "C" __global__ void own_pipeline(const float *x, float *y, int stages)
{
    __shared__ float s[2][128];
    auto p = cuda::make_pipeline();
    for (int i = 0; i < stages; i++) {
        p.producer_acquire();
        cuda::memcpy_async(&s[i & 1][threadIdx.x], x + i * 128 + threadIdx.x, sizeof(float), p);
        p.producer_commit();
        p.consumer_wait();
        y[i * 128 + threadIdx.x] = s[i & 1][threadIdx.x] * 2;
        p.consumer_release();
    }
}

// A pipeline of the CTA: threads read what others copied.
extern "C" __global__ void shared_pipeline(const float *x, float *y, int stages)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ float s[2][128];
    auto group = cooperative_groups::this_thread_block();
    auto p = cuda::make_pipeline(group, &state);
    for (int i = 0; i < stages; i++) {
        p.producer_acquire();
        cuda::memcpy_async(group, s[i & 1], x + i * 128, sizeof(float) * 128, p);
        p.producer_commit();
        p.consumer_wait();
        y[i * 128 + threadIdx.x] = s[i & 1][threadIdx.x ^ 65];
        p.consumer_release();
    }
}

// The first warp produces, the second one consumes, through two buffers.
extern "C" __global__ void producer_consumer(const int *x, int *y, int n)
{
    __shared__ Barrier full[2], empty[2];
    __shared__ int s[2][32];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) {
            init(full + i, 64);
            init(empty + i, 64);
        }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < n; i++) {
            empty[i & 1].arrive_and_wait();
            s[i & 1][threadIdx.x] = x[i * 32 + threadIdx.x];
            (void)full[i & 1].arrive();
        }
    } else {
        int lane = threadIdx.x - 32, sum = 0;
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        for (int i = 0; i < n; i++) {
            full[i & 1].arrive_and_wait();
            sum = sum * 3 + s[i & 1][lane ^ 5];
            (void)empty[i & 1].arrive();
        }
        y[lane] = sum;
    }
}

// Threads that leave drop out of later phases.
extern "C" __global__ void drop_out(int *y, int stay)
{
    __shared__ Barrier b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    if (threadIdx.x >= stay) {
        b.arrive_and_drop();
        return;
    }
    for (int i = 0; i < 3; i++) {
        y[threadIdx.x] = i * 100 + threadIdx.x;
        b.arrive_and_wait();
        int v = y[(threadIdx.x + 1) % stay];
        b.arrive_and_wait();
        y[threadIdx.x] = v;
    }
}

// The first lane of each warp waits for the others of it.
extern "C" __global__ void lanes(int *y)
{
    __shared__ Barrier b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        auto token = b.arrive();
        b.wait(std::move(token));
        y[threadIdx.x] = y[threadIdx.x + 1] + 1;
    } else {
        y[threadIdx.x] = threadIdx.x;
        (void)b.arrive();
    }
}

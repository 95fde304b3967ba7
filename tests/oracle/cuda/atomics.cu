// Atomic operations of all types and scopes, locks, fences. Results do not depend on the order of threads.
#include "common.cuh"
#include <cuda/atomic>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

KERNEL atomics_u32(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = threadIdx.x == 3 ? ~0u : 0;
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], y = b[i];
    atomicAdd(&s[0], x); atomicSub(&s[1], y); atomicMax(&s[2], x); atomicMin(&s[3], y); atomicAnd(&s[4], x | 255);
    atomicOr(&s[5], x & 0xff00ff); atomicXor(&s[6], y); atomicInc(&s[7], 100); atomicDec(&s[8], 70); atomicMax((int *)&s[9], (int)x);
    atomicMin((int *)&s[10], (int)y); atomicAdd_block(&s[11], x >> 3); atomicAdd_system(&s[12], 1);
    unsigned old = s[13], seen;
    do { seen = old; old = atomicCAS(&s[13], seen, seen * 1 + (x & 7)); } while (old != seen);
    atomicAdd((float *)&s[14], (float)(x & 15)); atomicExch(&s[15], 42);
    __syncthreads();
    if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = s[threadIdx.x];
    unsigned *g = out + n;
    atomicAdd(&g[0], x); atomicMax(&g[1], y); atomicMin((int *)&g[2], (int)x); atomicOr(&g[3], x & y); atomicXor(&g[4], x);
    atomicInc(&g[5], 1000); atomicDec(&g[6], 999); atomicAdd((int *)&g[7], -(int)(x & 3)); atomicCAS(&g[8], 0, 77); atomicExch_system(&g[9], 5);
    unsigned ticket = atomicAdd(&g[10], 1);
    atomicAdd(&g[16 + (ticket & 15)], 1);
    atomicXor(&g[32 + (x & 31)], y); atomicAdd_block(&g[64 + (threadIdx.x & 7)], 3);
}

KERNEL atomics_u64(const unsigned long long *a, const unsigned long long *b, unsigned long long *out, unsigned n) {
    using word = unsigned long long;
    __shared__ word s[8];
    if (threadIdx.x < 8) s[threadIdx.x] = threadIdx.x == 3 ? ~0ull : 0;
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    word x = a[i], y = b[i];
    atomicAdd(&s[0], x); atomicMax(&s[1], x); atomicMax((long long *)&s[2], (long long)y); atomicMin(&s[3], y); atomicXor(&s[4], x);
    atomicOr(&s[5], y & 0x0f0f0f0f0f0full); atomicAnd(&s[6], y); atomicAdd((double *)&s[7], (double)(x & 255));
    __syncthreads();
    if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = s[threadIdx.x];
    word *g = out + n;
    atomicAdd(&g[0], x); atomicMin((long long *)&g[1], (long long)x); atomicMax(&g[2], y); atomicXor_system(&g[3], x); atomicAdd((double *)&g[4], 0.5);
    word old = g[5], seen;
    do { seen = old; old = atomicCAS(&g[5], seen, __double_as_longlong(__longlong_as_double(seen) + (double)(x & 7))); } while (old != seen);
    atomicExch(&g[6], 9); atomicCAS(&g[7], 0, 3);
}

KERNEL atomics_half(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[i] & 3;
    atomicAdd((__half2 *)&out[0], __floats2half2_rn(v, 1.0f));
    atomicAdd((__half *)&out[1] + (i & 1), __float2half(v));
    atomicAdd((__nv_bfloat162 *)&out[2], __floats2bfloat162_rn(i < 100, i >= 100 && i < 200));
    atomicAdd((__nv_bfloat16 *)&out[3], __float2bfloat16(i % 2 == 0 && i < 200));
    unsigned short *w = (unsigned short *)&out[4], old = *w, seen;
    do { seen = old; old = atomicCAS(w, seen, (unsigned short)(seen + 3)); } while (old != seen);
    atomicAdd((float *)&out[5], v);
}

struct Lock {
    int taken;
    __device__ void lock() { while (atomicCAS(&taken, 0, 1) != 0) __nanosleep(20); __threadfence(); }
    __device__ void unlock() { __threadfence(); atomicExch(&taken, 0); }
};
__device__ Lock module_lock;
__device__ volatile unsigned counted;

KERNEL locks(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 8 == 0) {
        module_lock.lock();
        out[0] = ((volatile unsigned *)out)[0] + a[i] % 10;
        counted = counted + 1;
        __threadfence_system();
        if (counted == n / 8) out[1] = counted;
        module_lock.unlock();
    }
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> total(out[2]);
    total.fetch_add(b[i] & 15, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> block(out[8 + blockIdx.x]);
    block.fetch_max(b[i], cuda::memory_order_acq_rel);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> wide(*(unsigned long long *)(out + 4));
    wide.fetch_add(i, cuda::memory_order_seq_cst);
    cuda::atomic_ref<int, cuda::thread_scope_device> least(*(int *)(out + 3));
    int expected = least.load(cuda::memory_order_acquire);
    while ((int)a[i] < expected && !least.compare_exchange_weak(expected, (int)a[i], cuda::memory_order_release)) {}
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

// Atomics of every kind, fences, scopes.
#include <cuda/atomic>
__global__ void atomics(int *a, unsigned *u, float *f, double *d, unsigned long long *q) {
    __shared__ unsigned bins[64];
    bins[threadIdx.x & 63] = 0;
    __syncthreads();
    u[0] = atomicAdd(&bins[u[threadIdx.x] & 63], 1u) + atomicInc(u + 1, 17) + atomicDec(u + 2, 9);
    atomicMax(a, a[1]); atomicMin(a + 1, a[2]); atomicExch(a + 2, 4); a[4] = atomicCAS(a + 3, 1, 2);
    atomicAnd(u + 3, 7u); atomicOr(u + 4, 8u); atomicXor(u + 5, 9u);
    atomicAdd(f, 1.5f); atomicAdd(d, 2.5); atomicAdd(q, 1ull); atomicAdd_block(a + 5, 1); atomicAdd_system(a + 6, 1);
    __threadfence(); __threadfence_block(); __threadfence_system();
    cuda::atomic_ref<int, cuda::thread_scope_device> r(a[7]);
    a[8] = r.fetch_add(3, cuda::memory_order_acq_rel) + r.load(cuda::memory_order_acquire);
    r.store(1, cuda::memory_order_release);
}

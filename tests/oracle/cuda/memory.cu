// Loads and stores: cache hints, vectors, constants, shared memory of several types, grids of three dimensions.
#include "common.cuh"
#include <cuda_pipeline.h>
#define ARGS const unsigned *a, const unsigned *b, unsigned *out, unsigned n

__constant__ unsigned primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ float2 points[3] = {{0.5f, 1.5f}, {-2.f, 4.f}, {1e10f, -0.f}};
__device__ const unsigned char text[] = "the quick brown fox";
__device__ const unsigned char *const cursor = text + 4;
__device__ struct { int count; double weight; char name[6]; } record = {3, 0.25, "abc"};
__device__ unsigned long long addresses[2] = {7, 9};
__device__ unsigned long long *pointers[2] = {&addresses[0], &addresses[1]};
static __device__ int scratch[4] = {1, 2};

KERNEL hints(ARGS) {
    BEGIN
    ROW(__ldg(&a[i])) ROW(__ldcg(&b[i])) ROW(__ldca(&a[i])) ROW(__ldcs(&b[i])) ROW(__ldlu(&a[i])) ROW(__ldcv(&b[i]))
    __stcs(&out[row++ * n + i], x); __stcg(&out[row++ * n + i], y); __stwb(&out[row++ * n + i], x + y); __stwt(&out[row++ * n + i], x - y);
    ROW(primes[x & 7]) ROW((unsigned)(int)points[y % 3].x) ROW(text[x % 20]) ROW(cursor[y & 7]) ROW(record.name[x % 6]) ROW((unsigned)(record.weight * x))
    ROW((unsigned)pointers[x & 1][0]) ROW(scratch[y & 3]) ROW(*(volatile const unsigned *)&a[i])
    uint4 v = __ldg((const uint4 *)a + i / 4); uint2 w = ((const uint2 *)b)[i / 2];
    ROW(v.x ^ v.w) ROW(v.y + v.z) ROW(w.x * 3 + w.y) ROW(__ldg((const unsigned char *)a + i)) ROW((unsigned)(int)__ldg((const short *)b + i))
    uchar4 u = ((const uchar4 *)a)[i]; short2 s = ((const short2 *)b)[i];
    ROW(u.x + u.y * u.z - u.w) ROW((unsigned)(s.x * s.y))
    char3 odd = *(const char3 *)((const char *)a + 3 * (i / 4));
    ROW((unsigned)(odd.x + odd.y + odd.z))
    ROW((unsigned)((unsigned long long)__isGlobal(a) | __isShared(a) << 1 | __isConstant(primes) << 2 | __isLocal(&odd) << 3))
}

KERNEL copies(ARGS) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 4 + 3 < n) { ((uint4 *)out)[i] = ((const uint4 *)a)[i]; ((double2 *)(out + n))[i / 1] = ((const double2 *)b)[i]; }
    if (i < n / 2) ((ushort4 *)(out + 2 * n))[i] = ((const ushort4 *)a)[i];
    if (i < n) ((char2 *)(out + 3 * n))[i] = make_char2((char)a[i], (char)(b[i] >> 8));
    memcpy(out + 4 * n + 8 * (i / 8 % (n / 8)), a + 8 * (i / 8 % (n / 8)), 29);
    if (i < n / 8) memset((char *)(out + 5 * n) + 32 * i, i, 31);
}

struct __align__(16) Item { float4 v; unsigned key; };

KERNEL shared(ARGS) {
    extern __shared__ __align__(16) unsigned char dynamic[];
    __shared__ Item items[64];
    __shared__ double sums[2];
    __shared__ short counts[33];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float *floats = (float *)dynamic;
    unsigned short *shorts = (unsigned short *)(floats + blockDim.x);
    unsigned char *chars = (unsigned char *)(shorts + blockDim.x);
    if (t < 33) counts[t] = 0;
    if (t < 2) sums[t] = t;
    floats[t] = a[i] & 0xffff; shorts[t] = b[i]; chars[blockDim.x - 1 - t] = t;
    items[t & 63].key = t & 63;
    __syncthreads();
    if (t < 64) items[t].v = make_float4(floats[t], shorts[t], chars[t], t);
    if (t < 32) counts[t + 1] = (short)(shorts[t] - shorts[t + 1]);
    if (t == 0) for (unsigned k = 0; k < blockDim.x; k++) sums[k & 1] += floats[k];
    __syncthreads();
    Item item = items[(t * 7) & 63];
    out[i] = (unsigned)item.v.x ^ (unsigned)item.v.y ^ (unsigned)item.v.z ^ item.key;
    out[n + i] = (unsigned)(int)counts[t % 33] + (unsigned)sums[t & 1];
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        __syncthreads();
        if (t < step) floats[t] = fmaxf(floats[t], floats[t + step]);
    }
    __syncthreads();
    out[2 * n + i] = (unsigned)floats[0];
    unsigned in_shared = __cvta_generic_to_shared(&items[1]) - __cvta_generic_to_shared(&items[0]);
    out[3 * n + i] = in_shared + __isShared(floats) + __isGlobal(items);
    __shared__ unsigned staged[256];
    __pipeline_memcpy_async(&staged[t], &a[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[4 * n + i] = staged[blockDim.x - 1 - t];
}

KERNEL volume(ARGS) {
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned g = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned i = g * (blockDim.x * blockDim.y * blockDim.z) + t;
    if (i >= n) return;
    unsigned row = 0;
    ROW(threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16) ROW(blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16)
    ROW(blockDim.x * 1000000 + blockDim.y * 1000 + blockDim.z) ROW(gridDim.x * 1000000 + gridDim.y * 1000 + gridDim.z)
    long long start = clock64();
    unsigned early = clock();
    __nanosleep(5);
    __prof_trigger(3);
    ROW(clock64() >= start) ROW(warpSize) ROW(a[i] + b[n - 1 - i])
    unsigned lane, warp;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane)); asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(warp));
    ROW(lane) ROW(warp) ROW((unsigned)(clock() != early || true))
}

// Seven ways to sum up integers, as a course goes through them; then a block each sums the blocks' sums.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define BLOCK 256

// Neighbours first, by a remainder.
extern "C" __global__ void reduce_modulo(const int *g_idata, int *g_odata, unsigned int n) {
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if ((tid % (2 * s)) == 0)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        g_odata[blockIdx.x] = sdata[0];
}

// Neighbours first, by the first threads.
extern "C" __global__ void reduce_strided(const int *g_idata, int *g_odata, unsigned int n) {
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * tid;
        if (index < blockDim.x)
            sdata[index] += sdata[index + s];
        __syncthreads();
    }
    if (tid == 0)
        g_odata[blockIdx.x] = sdata[0];
}

// Halves.
extern "C" __global__ void reduce_halves(const int *g_idata, int *g_odata, unsigned int n) {
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        g_odata[blockIdx.x] = sdata[0];
}

// Two elements a thread when they are read.
extern "C" __global__ void reduce_load_two(const int *g_idata, int *g_odata, unsigned int n) {
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    int mySum = (i < n) ? g_idata[i] : 0;
    if (i + blockDim.x < n)
        mySum += g_idata[i + blockDim.x];
    sdata[tid] = mySum;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] = mySum = mySum + sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        g_odata[blockIdx.x] = mySum;
}

// The last warp without barriers of the block.
extern "C" __global__ void reduce_last_warp(const int *g_idata, int *g_odata, unsigned int n) {
    cg::thread_block cta = cg::this_thread_block();
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    int mySum = (i < n) ? g_idata[i] : 0;
    if (i + blockDim.x < n)
        mySum += g_idata[i + blockDim.x];
    sdata[tid] = mySum;
    cg::sync(cta);
    for (unsigned int s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s)
            sdata[tid] = mySum = mySum + sdata[tid + s];
        cg::sync(cta);
    }
    cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
    if (cta.thread_rank() < 32) {
        if (blockDim.x >= 64)
            mySum += sdata[tid + 32];
        for (int offset = tile32.size() / 2; offset > 0; offset /= 2)
            mySum += tile32.shfl_down(mySum, offset);
    }
    if (cta.thread_rank() == 0)
        g_odata[blockIdx.x] = mySum;
}

// A template for the block's size, all unrolled, and as many elements a thread as the grid leaves it.
template <unsigned int blockSize, bool nIsPow2>
__device__ void reduce_unrolled_body(const int *__restrict__ g_idata, int *__restrict__ g_odata, unsigned int n) {
    __shared__ int sdata[blockSize];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
    unsigned int gridSize = blockSize * 2 * gridDim.x;
    int mySum = 0;
    while (i < n) {
        mySum += g_idata[i];
        if (nIsPow2 || i + blockSize < n)
            mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = mySum;
    __syncthreads();
    if (blockSize >= 512) {
        if (tid < 256)
            sdata[tid] = mySum = mySum + sdata[tid + 256];
        __syncthreads();
    }
    if (blockSize >= 256) {
        if (tid < 128)
            sdata[tid] = mySum = mySum + sdata[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64)
            sdata[tid] = mySum = mySum + sdata[tid + 64];
        __syncthreads();
    }
    if (tid < 32) {
        volatile int *smem = sdata;
        if (blockSize >= 64) {
            smem[tid] = mySum = mySum + smem[tid + 32];
            __syncwarp();
        }
#pragma unroll
        for (int offset = 16; offset > 0; offset >>= 1) {
            int other = smem[tid + offset];
            __syncwarp();
            smem[tid] = mySum = mySum + other;
            __syncwarp();
        }
    }
    if (tid == 0)
        g_odata[blockIdx.x] = mySum;
}

extern "C" __global__ void reduce_unrolled(const int *g_idata, int *g_odata, unsigned int n) {
    if ((n & (n - 1)) == 0)
        reduce_unrolled_body<BLOCK, true>(g_idata, g_odata, n);
    else
        reduce_unrolled_body<BLOCK, false>(g_idata, g_odata, n);
}

// Vectors of four, then the warp's own instruction.
extern "C" __global__ void reduce_warps(const int *__restrict__ g_idata, int *__restrict__ g_odata, unsigned int n) {
    __shared__ int sums[32];
    const int4 *four = reinterpret_cast<const int4 *>(g_idata);
    int sum = 0;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        int4 v = four[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4)
        sum += g_idata[n / 4 * 4 + threadIdx.x];
    sum = __reduce_add_sync(0xffffffffu, sum);
    unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        sum = __reduce_add_sync(0xffffffffu, sum);
        if (lane == 0)
            g_odata[blockIdx.x] = sum;
    }
}

extern "C" __global__ void reduce_final(const int *__restrict__ partial, int count, long long *totals, int way) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ long long sums[BLOCK / 32];
    long long sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += partial[i];
    sum = cg::reduce(warp, sum, cg::plus<long long>());
    if (warp.thread_rank() == 0)
        sums[warp.meta_group_rank()] = sum;
    block.sync();
    if (block.thread_rank() == 0) {
        sum = 0;
        for (int w = 0; w < warp.meta_group_size(); w++)
            sum += sums[w];
        totals[way] = sum;
    }
}

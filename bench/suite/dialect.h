// One kernel source for two compilers: the words in which CUDA C++ and OpenCL C differ.
#ifndef REAL
#define REAL float
#endif

#ifdef __OPENCL_VERSION__
#define KERNEL __kernel
#define DEVICE
#define GLOBAL __global
#define SHARED __local
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define THREAD_X ((int)get_local_id(0))
#define THREAD_Y ((int)get_local_id(1))
#define BLOCK_X ((int)get_group_id(0))
#define BLOCK_Y ((int)get_group_id(1))
#define BLOCK_SIZE_X ((int)get_local_size(0))
#define BLOCK_SIZE_Y ((int)get_local_size(1))
#define GRID_SIZE_X ((int)get_num_groups(0))
#define ATOMIC_ADD(address, value) atomic_add(address, value)
#define MAKE_REAL(value) ((REAL)(value))
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#define UNROLL _Pragma("unroll")
#else
#define KERNEL extern "C" __global__
#define DEVICE __device__ inline
#define GLOBAL
#define SHARED __shared__
#define BARRIER() __syncthreads()
#define THREAD_X ((int)threadIdx.x)
#define THREAD_Y ((int)threadIdx.y)
#define BLOCK_X ((int)blockIdx.x)
#define BLOCK_Y ((int)blockIdx.y)
#define BLOCK_SIZE_X ((int)blockDim.x)
#define BLOCK_SIZE_Y ((int)blockDim.y)
#define GRID_SIZE_X ((int)gridDim.x)
#define ATOMIC_ADD(address, value) atomicAdd(address, value)
#define UNROLL _Pragma("unroll")
typedef unsigned int uint;
#ifdef HALF
#include <cuda_fp16.h>
#define MAKE_REAL(value) __float2half(value)
#define MULTIPLY_ADD(a, b, c) __hfma(a, b, c)
#else
#define MAKE_REAL(value) ((REAL)(value))
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
#endif

#define INDEX_X (BLOCK_X * BLOCK_SIZE_X + THREAD_X)
#define INDEX_Y (BLOCK_Y * BLOCK_SIZE_Y + THREAD_Y)

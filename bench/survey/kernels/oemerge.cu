// Batcher's odd-even merge sort of keys and values: up to a size in shared memory, then a launch for each stride.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define SHARED_SIZE_LIMIT 512U
typedef unsigned int uint;

__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
    uint t;
    if ((keyA > keyB) == dir) {
        t = keyA;
        keyA = keyB;
        keyB = t;
        t = valA;
        valA = valB;
        valB = t;
    }
}

extern "C" __global__ void oemerge_shared(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal,
                                          uint arrayLength, uint dir) {
    cg::thread_block cta = cg::this_thread_block();
    __shared__ uint s_key[SHARED_SIZE_LIMIT];
    __shared__ uint s_val[SHARED_SIZE_LIMIT];
    uint base = blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_SrcKey += base;
    d_SrcVal += base;
    d_DstKey += base;
    d_DstVal += base;
    s_key[threadIdx.x] = d_SrcKey[0];
    s_val[threadIdx.x] = d_SrcVal[0];
    s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[SHARED_SIZE_LIMIT / 2];
    s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcVal[SHARED_SIZE_LIMIT / 2];

    for (uint size = 2; size <= arrayLength; size <<= 1) {
        uint stride = size / 2;
        uint offset = threadIdx.x & (stride - 1);
        {
            cg::sync(cta);
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], dir);
            stride >>= 1;
        }
        for (; stride > 0; stride >>= 1) {
            cg::sync(cta);
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            if (offset >= stride)
                Comparator(s_key[pos - stride], s_val[pos - stride], s_key[pos], s_val[pos], dir);
        }
    }

    cg::sync(cta);
    d_DstKey[0] = s_key[threadIdx.x];
    d_DstVal[0] = s_val[threadIdx.x];
    d_DstKey[SHARED_SIZE_LIMIT / 2] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
    d_DstVal[SHARED_SIZE_LIMIT / 2] = s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

extern "C" __global__ void oemerge_global(uint *key, uint *val, uint size, uint stride, uint dir) {
    uint comparator = blockIdx.x * blockDim.x + threadIdx.x;
    uint pos = 2 * comparator - (comparator & (stride - 1));
    if (stride < size / 2) {
        uint offset = comparator & ((size / 2) - 1);
        if (offset >= stride) {
            uint keyA = key[pos - stride];
            uint valA = val[pos - stride];
            uint keyB = key[pos];
            uint valB = val[pos];
            Comparator(keyA, valA, keyB, valB, dir);
            key[pos - stride] = keyA;
            val[pos - stride] = valA;
            key[pos] = keyB;
            val[pos] = valB;
        }
    } else {
        uint keyA = key[pos];
        uint valA = val[pos];
        uint keyB = key[pos + stride];
        uint valB = val[pos + stride];
        Comparator(keyA, valA, keyB, valB, dir);
        key[pos] = keyA;
        val[pos] = valA;
        key[pos + stride] = keyB;
        val[pos + stride] = valB;
    }
}

// Batcher's odd-even merge sort of pairs, a block a list, lists shorter than the network filled up with the greatest.
#include <math_constants.h>

template <class K, class V>
__device__ __forceinline__ void order(K &ka, V &va, K &kb, V &vb) {
    if (kb < ka) {
        K k = ka;
        ka = kb;
        kb = k;
        V v = va;
        va = vb;
        vb = v;
    }
}

template <int N, int THREADS>
__device__ void odd_even_merge_sort(float *keys, unsigned *values) {
    for (int p = 1; p < N; p <<= 1)
        for (int k = p; k >= 1; k >>= 1) {
            __syncthreads();
            const int offset = k & (p - 1);
            for (int i = threadIdx.x; i < N / 2; i += THREADS) {
                // the i-th pair at distance k
                int low = i / k * 2 * k + i % k + offset, high = low + k;
                if (high < N && low / (2 * p) == high / (2 * p))
                    order(keys[low], values[low], keys[high], values[high]);
            }
        }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(256) batcher(float *keys, unsigned *values, const int *__restrict__ start) {
    constexpr int N = 1024;
    __shared__ float k[N];
    __shared__ unsigned v[N];
    const int first = start[blockIdx.x], count = start[blockIdx.x + 1] - first;
    for (int i = threadIdx.x; i < N; i += 256) {
        k[i] = i < count ? keys[first + i] : CUDART_INF_F;
        v[i] = i < count ? values[first + i] : 0xffffffffu;
    }
    odd_even_merge_sort<N, 256>(k, v);
    for (int i = threadIdx.x; i < count; i += 256) {
        keys[first + i] = k[i];
        values[first + i] = v[i];
    }
}

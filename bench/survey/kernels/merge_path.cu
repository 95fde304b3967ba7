// Two sorted runs merged: a diagonal by binary search for each CTA and thread, eight numbers each.
__device__ int diagonal(const int *a, int na, const int *b, int nb, int d) {
    int low = max(0, d - nb), high = min(d, na);
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[d - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(128) merge(const int *__restrict__ a, const int *__restrict__ b,
                                                        int *__restrict__ out, int na, int nb) {
    __shared__ int s[1024], ends[2];
    int first = blockIdx.x * 1024, last = min(first + 1024, na + nb);
    if (threadIdx.x < 2)
        ends[threadIdx.x] = diagonal(a, na, b, nb, threadIdx.x ? last : first);
    __syncthreads();
    int a0 = ends[0], a1 = ends[1], b0 = first - a0, b1 = last - a1, ca = a1 - a0, cb = b1 - b0;
    for (int i = threadIdx.x; i < ca; i += 128)
        s[i] = a[a0 + i];
    for (int i = threadIdx.x; i < cb; i += 128)
        s[ca + i] = b[b0 + i];
    __syncthreads();
    int d = min((int)threadIdx.x * 8, ca + cb), i = diagonal(s, ca, s + ca, cb, d), j = d - i, r[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        bool left = j >= cb || (i < ca && s[i] <= s[ca + j]);
        int at = left ? i++ : ca + j++;
        r[k] = s[min(at, 1023)];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
        s[threadIdx.x * 8 + k] = r[k];
    __syncthreads();
    for (int k = threadIdx.x; k < last - first; k += 128)
        out[first + k] = s[k];
}

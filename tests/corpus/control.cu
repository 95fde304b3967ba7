// Dense and sparse switches, nested loops, early exits, goto, recursion.
__device__ __noinline__ int depth(int n) { return n <= 1 ? 1 : depth(n - 1) + depth(n - 2); }
__global__ void switches(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = out[i];
    switch (n) {
        case 0: x += 7; break;
        case 1: x ^= i; break;
        case 2: x *= 3;
        case 3: x -= out[i + 1]; break;
        case 4: x = __popc(x); break;
        case 5: x = __clz(x) + __brev(i); break;
        case 6: x = depth(x & 7); break;
        case 7: x = x / (i | 1) + x % 13; break;
        case 4000: x = -x; break;
        default: x = 0;
    }
    for (int j = 0; j < n; ++j) {
        for (int k = j; k < n; k += 3) {
            if (x == k) goto done;
            x += out[k] >> (j & 31);
            if (x & 1) continue;
        }
        if (x > 1000000) break;
    }
done:
    out[i] = x;
}

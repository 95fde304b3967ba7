#include <cuda_fp16.h>

// A matrix of four-bit numbers, 32 with one scale, times a vector of bytes with scales: a warp a row.
struct Q4 {
    __half d;
    unsigned char q[16];
};
struct Q8 {
    __half d;
    signed char q[32];
};

__device__ int word(const void *p, int i) {
    const unsigned short *h = (const unsigned short *)p;
    return h[2 * i] | h[2 * i + 1] << 16;
}

extern "C" __global__ void q4_matvec(const Q4 *__restrict__ w, const Q8 *__restrict__ x, float *__restrict__ y,
                                     int rows, int blocks) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    float sum = 0;
    for (int b = threadIdx.x / 4; b < blocks; b += 8) {
        const Q4 *p = w + (size_t)row * blocks + b;
        const Q8 *q = x + b;
        int i = threadIdx.x % 4, v = word(p->q, i), low = v & 0x0f0f0f0f, high = v >> 4 & 0x0f0f0f0f;
        int a = word(q->q, i), c = word(q->q, i + 4);
        int s = __dp4a(low, a, 0);
        s = __dp4a(high, c, s);
        int o = __dp4a(0x08080808, a, 0);
        o = __dp4a(0x08080808, c, o);
        sum += __half2float(p->d) * __half2float(q->d) * (s - o);
    }
    for (int m = 16; m; m >>= 1)
        sum += __shfl_xor_sync(~0u, sum, m);
    if (threadIdx.x == 0)
        y[row] = sum;
}

// Complex transforms of 512 points, eight in the registers of each of 64 threads, three steps of eight; numbers change
// threads by shared memory, real parts first. Two transforms a block.
#define SQRT_HALF 0.70710678118654752440f

struct cplx {
    float re, im;
};

__device__ __forceinline__ cplx operator+(cplx a, cplx b) { return {a.re + b.re, a.im + b.im}; }
__device__ __forceinline__ cplx operator-(cplx a, cplx b) { return {a.re - b.re, a.im - b.im}; }
__device__ __forceinline__ cplx operator*(cplx a, cplx b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ __forceinline__ cplx minus_i(cplx a) { return {a.im, -a.re}; }

__device__ __forceinline__ void fft2(cplx &a, cplx &b) {
    cplx t = a;
    a = t + b;
    b = t - b;
}

__device__ __forceinline__ void fft4(cplx &a, cplx &b, cplx &c, cplx &d) {
    fft2(a, c);
    fft2(b, d);
    d = minus_i(d);
    fft2(a, b);
    fft2(c, d);
}

// In place; the result of k is where `reversed(k)` says.
__device__ __forceinline__ void fft8(cplx (&v)[8]) {
#pragma unroll
    for (int i = 0; i < 4; i++)
        fft2(v[i], v[i + 4]);
    v[5] = v[5] * cplx{SQRT_HALF, -SQRT_HALF};
    v[6] = minus_i(v[6]);
    v[7] = v[7] * cplx{-SQRT_HALF, -SQRT_HALF};
    fft4(v[0], v[1], v[2], v[3]);
    fft4(v[4], v[5], v[6], v[7]);
}

__device__ constexpr int reversed(int k) {
    return (k & 1) << 2 | (k & 2) | (k & 4) >> 2;
}

__device__ __forceinline__ void twiddle(cplx (&v)[8], float half_turns) {
    float s, c;
    sincospif(half_turns, &s, &c);
    cplx w = {c, s}, power = w;
#pragma unroll
    for (int r = 1; r < 8; r++) {
        v[r] = v[r] * power;
        power = power * w;
    }
}

template <int STRIDE>
__device__ __forceinline__ void exchange(cplx (&v)[8], float *buffer, int to, int from) {
#pragma unroll
    for (int r = 0; r < 8; r++)
        buffer[to + r * STRIDE] = v[reversed(r)].re;
    __syncthreads();
    float re[8];
#pragma unroll
    for (int r = 0; r < 8; r++)
        re[r] = buffer[from + r * 64];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 8; r++)
        buffer[to + r * STRIDE] = v[reversed(r)].im;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 8; r++)
        v[r] = {re[r], buffer[from + r * 64]};
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(128) fft_512(const float2 *__restrict__ in, float2 *__restrict__ out,
                                                          int batch) {
    __shared__ float buffers[2][512];
    const int t = threadIdx.x, which = blockIdx.x * 2 + threadIdx.y;
    float *buffer = buffers[threadIdx.y];
    const bool here = which < batch;
    const size_t base = (size_t)which * 512 + t;
    cplx v[8] = {};
    if (here)
#pragma unroll
        for (int r = 0; r < 8; r++) {
            float2 x = in[base + r * 64];
            v[r] = {x.x, x.y};
        }
    fft8(v);
    exchange<1>(v, buffer, 8 * t, t);
    twiddle(v, -(t % 8) / 32.0f);
    fft8(v);
    exchange<8>(v, buffer, t / 8 * 64 + t % 8, t);
    twiddle(v, -t / 256.0f);
    fft8(v);
    if (here)
#pragma unroll
        for (int k = 0; k < 8; k++)
            out[base + k * 64] = make_float2(v[reversed(k)].re, v[reversed(k)].im);
}

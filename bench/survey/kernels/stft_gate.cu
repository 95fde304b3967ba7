// Noise gate by short Fourier transforms: frames of 256 that overlap by three quarters, Hann's window, a transform in
// shared memory, bins below a threshold turned down (smoothly), back again, and overlap-add.
#include <cuda_runtime.h>
#define FRAME 256
#define HALF (FRAME / 2)
#define HOP 64
#define LOG 8

__device__ __forceinline__ float2 cmul(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Radix 2 by decimation in time, input in bit-reversed order; a thread a butterfly.
template <bool INVERSE> __device__ void fft(float2 *data, const float2 *__restrict__ roots) {
    for (int s = 0; s < LOG; s++) {
        __syncthreads();
        int half = 1 << s;
        int j = threadIdx.x & (half - 1);
        int at = (threadIdx.x >> s << (s + 1)) + j;
        float2 w = roots[j << (LOG - 1 - s)];
        if (INVERSE)
            w.y = -w.y;
        float2 a = data[at], b = cmul(data[at + half], w);
        data[at] = make_float2(a.x + b.x, a.y + b.y);
        data[at + half] = make_float2(a.x - b.x, a.y - b.y);
    }
    __syncthreads();
}

__device__ __forceinline__ int reversed(int i) {
    return __brev(i) >> (32 - LOG);
}

extern "C" __global__ void __launch_bounds__(HALF)
stft_frames(const float *__restrict__ signal, const float *__restrict__ window, const float2 *__restrict__ roots,
            const float *__restrict__ noise, float *__restrict__ frames, int samples, float strength, float floor) {
    __shared__ float2 a[FRAME], b[FRAME];
    int start = blockIdx.x * HOP, t = threadIdx.x;
    for (int i = t; i < FRAME; i += HALF) {
        float v = start + i < samples ? signal[start + i] * window[i] : 0.0f;
        a[reversed(i)] = make_float2(v, 0.0f);
    }
    fft<false>(a, roots);
    for (int i = t; i < FRAME; i += HALF) {
        float2 v = a[i];
        int bin = min(i, FRAME - i);
        float power = v.x * v.x + v.y * v.y;
        float gain = fmaxf(1.0f - strength * noise[bin] / (power + 1e-12f), floor);
        gain = sqrtf(gain);
        b[reversed(i)] = make_float2(v.x * gain, v.y * gain);
    }
    fft<true>(b, roots);
    for (int i = t; i < FRAME; i += HALF)
        frames[blockIdx.x * FRAME + i] = b[i].x * (1.0f / FRAME) * window[i];
}

extern "C" __global__ void overlap_add(const float *__restrict__ frames, const float *__restrict__ window,
                                       float *__restrict__ out, int samples, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples)
        return;
    int last = min(i / HOP, count - 1);
    int first = max(0, (i - FRAME + HOP) / HOP);
    float sum = 0.0f, weight = 0.0f;
    for (int f = first; f <= last; f++) {
        int at = i - f * HOP;
        if (at < FRAME) {
            sum += frames[f * FRAME + at];
            weight += window[at] * window[at];
        }
    }
    out[i] = weight > 1e-6f ? sum / weight : 0.0f;
}

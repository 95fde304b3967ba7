// Features of speech (MFCC): frames of 400 samples, emphasis, a window, an FFT of 512 in shared memory by a block a
// frame, sums over 40 bands, logarithms, 13 cosines; then each feature less its mean over time.
#define FRAME 400
#define HOP 160
#define N_FFT 512
#define LOG_N 9
#define BANDS 40
#define CEPSTRA 13

struct Band {
    int first, count, offset;
};

extern "C" __global__ void mfcc_frames(const short *__restrict__ samples, const float *__restrict__ window,
                                       const float2 *__restrict__ twiddle, const Band *__restrict__ bands,
                                       const float *__restrict__ band_weight, const float *__restrict__ dct,
                                       float *__restrict__ out, int frames, float emphasis) {
    __shared__ float2 data[N_FFT];
    __shared__ float power[N_FFT / 2 + 1];
    __shared__ float log_mel[BANDS];
    const int frame = blockIdx.x, t = threadIdx.x;
    const short *from = samples + (size_t)frame * HOP;

    for (int i = t; i < N_FFT; i += blockDim.x) {
        float v = 0.0f;
        if (i < FRAME) {
            float before = i > 0 ? from[i - 1] : from[0];
            v = (from[i] - emphasis * before) * (1.0f / 32768.0f) * window[i];
        }
        data[__brev(i) >> (32 - LOG_N)] = make_float2(v, 0.0f);
    }
    __syncthreads();
    for (int stage = 0; stage < LOG_N; stage++) {
        const int half = 1 << stage;
        for (int k = t; k < N_FFT / 2; k += blockDim.x) {
            const int j = k & (half - 1), i = ((k >> stage) << (stage + 1)) + j;
            const float2 w = twiddle[j << (LOG_N - 1 - stage)];
            const float2 a = data[i], b = data[i + half];
            const float re = b.x * w.x - b.y * w.y, im = b.x * w.y + b.y * w.x;
            data[i] = make_float2(a.x + re, a.y + im);
            data[i + half] = make_float2(a.x - re, a.y - im);
        }
        __syncthreads();
    }
    for (int i = t; i <= N_FFT / 2; i += blockDim.x)
        power[i] = data[i].x * data[i].x + data[i].y * data[i].y;
    __syncthreads();

    const int lane = t & 31, warps = blockDim.x >> 5;
    for (int m = t >> 5; m < BANDS; m += warps) {
        const Band band = bands[m];
        float sum = 0.0f;
        for (int i = lane; i < band.count; i += 32)
            sum += power[band.first + i] * band_weight[band.offset + i];
        for (int d = 16; d > 0; d >>= 1)
            sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (lane == 0)
            log_mel[m] = logf(fmaxf(sum, 1e-10f));
    }
    __syncthreads();
    if (t < CEPSTRA) {
        float sum = 0.0f;
        for (int m = 0; m < BANDS; m++)
            sum += dct[t * BANDS + m] * log_mel[m];
        out[frame * CEPSTRA + t] = sum;
    }
}

extern "C" __global__ void mfcc_means(const float *__restrict__ features, float *mean, int frames) {
    __shared__ float partial[256];
    const int c = blockIdx.x, t = threadIdx.x;
    float sum = 0.0f;
    for (int f = t; f < frames; f += blockDim.x)
        sum += features[f * CEPSTRA + c];
    partial[t] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0)
        mean[c] = partial[0] / frames;
}

extern "C" __global__ void mfcc_centre(float *features, const float *__restrict__ mean, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        features[i] -= mean[i % CEPSTRA];
}

// Pitch of overlapping frames by YIN: a block a frame, a thread a lag, a scan for the cumulative mean.
#define WINDOW 512
#define LAGS 256

__device__ float warp_inclusive(float v, int lane) {
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        float left = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += left;
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(LAGS)
    yin(const float *__restrict__ audio, float *__restrict__ pitch, float *__restrict__ clarity, int hop, float rate,
        float threshold) {
    __shared__ float x[WINDOW + LAGS];
    __shared__ float dn[LAGS];
    __shared__ float warp_total[LAGS / 32];
    __shared__ int first;
    const int tau = threadIdx.x, lane = tau & 31, warp = tau >> 5;
    const float *frame = audio + (size_t)blockIdx.x * hop;
    for (int i = tau; i < WINDOW + LAGS; i += blockDim.x)
        x[i] = frame[i];
    if (tau == 0)
        first = LAGS;
    __syncthreads();

    float d = 0.0f;
#pragma unroll 8
    for (int j = 0; j < WINDOW; j++) {
        float e = x[j] - x[j + tau];
        d = fmaf(e, e, d);
    }

    float sum = warp_inclusive(d, lane);
    if (lane == 31)
        warp_total[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        sum += warp_total[w];
    dn[tau] = tau == 0 ? 1.0f : d * tau / fmaxf(sum, 1e-12f);
    __syncthreads();

    // The first dip below the threshold; its lowest point.
    if (tau >= 2 && tau < LAGS - 1 && dn[tau] < threshold && dn[tau] <= dn[tau + 1] && dn[tau] < dn[tau - 1])
        atomicMin(&first, tau);
    __syncthreads();
    if (tau == 0) {
        int t = first;
        if (t == LAGS) {
            pitch[blockIdx.x] = 0.0f;
            clarity[blockIdx.x] = 0.0f;
            return;
        }
        float a = dn[t - 1], b = dn[t], c = dn[t + 1];
        float bend = a - 2.0f * b + c;
        float shift = fabsf(bend) > 1e-9f ? 0.5f * (a - c) / bend : 0.0f;
        pitch[blockIdx.x] = rate / (t + shift);
        clarity[blockIdx.x] = 1.0f - b;
    }
}

// Compositing samples along rays and its gradient: rays have any number of samples, packed one after another; a
// thread a ray, which ends when little light is left.
template <typename scalar_t> struct View2 {
    scalar_t *data;
    int stride;
    __device__ __forceinline__ scalar_t *operator[](int i) const { return data + (long long)i * stride; }
};

extern "C" __global__ void comp_forward(const float *__restrict__ sigmas, const float *__restrict__ rgbs_,
                                        const float *__restrict__ deltas, const float *__restrict__ ts,
                                        const long long *__restrict__ rays_a_, float T_threshold,
                                        long long *__restrict__ total_samples, float *__restrict__ opacity,
                                        float *__restrict__ depth, float *__restrict__ rgb_, float *__restrict__ ws,
                                        int n_rays) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= n_rays)
        return;
    View2<const long long> rays_a{rays_a_, 3};
    View2<const float> rgbs{rgbs_, 3};
    View2<float> rgb{rgb_, 3};
    const int ray_idx = rays_a[n][0], start_idx = rays_a[n][1], N_samples = rays_a[n][2];
    int samples = 0;
    float T = 1.0f;
    while (samples < N_samples) {
        const int s = start_idx + samples;
        const float a = 1.0f - __expf(-sigmas[s] * deltas[s]);
        const float w = a * T;
        rgb[ray_idx][0] += w * rgbs[s][0];
        rgb[ray_idx][1] += w * rgbs[s][1];
        rgb[ray_idx][2] += w * rgbs[s][2];
        depth[ray_idx] += w * ts[s];
        opacity[ray_idx] += w;
        ws[s] = w;
        T *= 1.0f - a;
        if (T <= T_threshold)
            break;
        samples++;
    }
    total_samples[ray_idx] = samples;
}

extern "C" __global__ void comp_backward(const float *__restrict__ dL_dopacity, const float *__restrict__ dL_ddepth,
                                         const float *__restrict__ dL_drgb_, const float *__restrict__ sigmas,
                                         const float *__restrict__ rgbs_, const float *__restrict__ deltas,
                                         const float *__restrict__ ts, const long long *__restrict__ rays_a_,
                                         const float *__restrict__ opacity, const float *__restrict__ depth,
                                         const float *__restrict__ rgb_, float T_threshold,
                                         float *__restrict__ dL_dsigmas, float *__restrict__ dL_drgbs_, int n_rays) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= n_rays)
        return;
    View2<const long long> rays_a{rays_a_, 3};
    View2<const float> rgbs{rgbs_, 3}, rgb{rgb_, 3}, dL_drgb{dL_drgb_, 3};
    View2<float> dL_drgbs{dL_drgbs_, 3};
    const int ray_idx = rays_a[n][0], start_idx = rays_a[n][1], N_samples = rays_a[n][2];
    int samples = 0;
    float R = rgb[ray_idx][0], G = rgb[ray_idx][1], B = rgb[ray_idx][2];
    float O = opacity[ray_idx], D = depth[ray_idx];
    float T = 1.0f, r = 0.0f, g = 0.0f, b = 0.0f, d = 0.0f;
    while (samples < N_samples) {
        const int s = start_idx + samples;
        const float a = 1.0f - __expf(-sigmas[s] * deltas[s]);
        const float w = a * T;
        r += w * rgbs[s][0];
        g += w * rgbs[s][1];
        b += w * rgbs[s][2];
        d += w * ts[s];
        T *= 1.0f - a;
#pragma unroll
        for (int k = 0; k < 3; k++)
            dL_drgbs[s][k] = dL_drgb[ray_idx][k] * w;
        dL_dsigmas[s] = deltas[s] * (dL_drgb[ray_idx][0] * (rgbs[s][0] * T - (R - r)) +
                                     dL_drgb[ray_idx][1] * (rgbs[s][1] * T - (G - g)) +
                                     dL_drgb[ray_idx][2] * (rgbs[s][2] * T - (B - b)) +
                                     dL_dopacity[ray_idx] * (1.0f - O) +
                                     dL_ddepth[ray_idx] * (ts[s] * T - (D - d)));
        if (T <= T_threshold)
            break;
        samples++;
    }
}

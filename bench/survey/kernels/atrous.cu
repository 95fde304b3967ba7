// The a-trous wavelet filter of a path tracer's denoiser: five rounds with growing steps, guided by normals, depths and
// luminance in units of its deviation; colours as half4, variances filtered along; a last kernel puts albedo back.
#include <cuda_fp16.h>

struct __align__(8) Half4 {
    __half2 rg, bv;  // v: variance
};

__device__ __forceinline__ float4 widen(Half4 h) {
    float2 a = __half22float2(h.rg), b = __half22float2(h.bv);
    return make_float4(a.x, a.y, b.x, b.y);
}

__device__ __forceinline__ Half4 narrow(float4 v) {
    Half4 h;
    h.rg = __floats2half2_rn(v.x, v.y);
    h.bv = __floats2half2_rn(v.z, v.w);
    return h;
}

__device__ __forceinline__ float luminance(float4 c) {
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

__constant__ float KERNEL[3] = {3.0f / 8.0f, 1.0f / 4.0f, 1.0f / 16.0f};

extern "C" __global__ void atrous(const Half4 *__restrict__ input, Half4 *__restrict__ output,
                                  const float4 *__restrict__ normal_depth, int w, int h, int step, float phi_colour,
                                  float phi_depth) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const float4 guide = normal_depth[y * w + x];
    const float4 centre = widen(input[y * w + x]);
    if (guide.w < 0.0f) {  // sky
        output[y * w + x] = narrow(centre);
        return;
    }
    // the variance, smoothed over 3 x 3
    float variance = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int px = min(max(x + dx, 0), w - 1), py = min(max(y + dy, 0), h - 1);
            float weight = (dx ? 0.25f : 0.5f) * (dy ? 0.25f : 0.5f);
            variance += weight * __half2float(__high2half(input[py * w + px].bv));
        }
    const float own = luminance(centre);
    const float scale = 1.0f / (phi_colour * sqrtf(fmaxf(variance, 0.0f) + 1e-8f));
    float weights = 1.0f;
    float4 sum = centre;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            if (i == 0 && j == 0)
                continue;
            const int px = x + i * step, py = y + j * step;
            if (px < 0 || py < 0 || px >= w || py >= h)
                continue;
            const float4 g = normal_depth[py * w + px];
            if (g.w < 0.0f)
                continue;
            const float4 c = widen(input[py * w + px]);
            float wn = fmaxf(guide.x * g.x + guide.y * g.y + guide.z * g.z, 0.0f);
            wn *= wn;
            wn *= wn;
            wn *= wn;
            wn *= wn;
            wn *= wn;
            float wz = fabsf(guide.w - g.w) / (phi_depth * step * sqrtf((float)(i * i + j * j)));
            float wl = fabsf(own - luminance(c)) * scale;
            float weight = KERNEL[abs(i)] * KERNEL[abs(j)] * (64.0f / 9.0f) * wn * expf(-wz - wl);
            weights += weight;
            sum.x += weight * c.x;
            sum.y += weight * c.y;
            sum.z += weight * c.z;
            sum.w += weight * weight * c.w;
        }
    float inv = 1.0f / weights;
    output[y * w + x] = narrow(make_float4(sum.x * inv, sum.y * inv, sum.z * inv, sum.w * inv * inv));
}

extern "C" __global__ void atrous_show(const Half4 *__restrict__ light, const uchar4 *__restrict__ albedo,
                                       uchar4 *__restrict__ image, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    float4 c = widen(light[i]);
    uchar4 a = albedo[i];
    auto tone = [](float v, unsigned char albedo) {
        v *= albedo * (1.0f / 255.0f);
        v = v / (1.0f + v);
        return (unsigned char)(255.0f * sqrtf(v) + 0.5f);
    };
    image[i] = make_uchar4(tone(c.x, a.x), tone(c.y, a.y), tone(c.z, a.z), 255);
}

// Blocks of 32 numbers share a scale that is a power of two, and become e4m3 (or e5m2, for gradients) by NVIDIA's
// types; back again to bfloat16, with the largest error of each block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
namespace cg = cooperative_groups;

template <class Fp8> struct Format;
template <> struct Format<__nv_fp8_e4m3> {
    static constexpr int largest_exponent = 8;
};
template <> struct Format<__nv_fp8_e5m2> {
    static constexpr int largest_exponent = 15;
};

__device__ float power_of_two(int e) { return __int_as_float((e + 127) << 23); }

template <class Fp8>
__device__ void quantise(const float4 *in, uchar4 *out, unsigned char *scales, int groups) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int group = blockIdx.x * (blockDim.x / 8) + tile.meta_group_rank();
    if (group >= groups)
        return;
    float4 v = in[8 * group + tile.thread_rank()];
    float most = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    most = cg::reduce(tile, most, cg::greater<float>());
    int exponent = most > 0.0f ? (__float_as_int(most) >> 23) - 127 - Format<Fp8>::largest_exponent : 0;
    exponent = max(exponent, -126);
    float down = power_of_two(-exponent);
    union {
        Fp8 parts[4];
        uchar4 whole;
    } packed = {{Fp8(v.x * down), Fp8(v.y * down), Fp8(v.z * down), Fp8(v.w * down)}};
    out[8 * group + tile.thread_rank()] = packed.whole;
    if (tile.thread_rank() == 0)
        scales[group] = static_cast<unsigned char>(exponent + 127);
}

template <class Fp8x4>
__device__ void restore(const float4 *in, const Fp8x4 *packed, const unsigned char *scales, __nv_bfloat162 *out,
                        float *error, int groups) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int group = blockIdx.x * (blockDim.x / 8) + tile.meta_group_rank();
    if (group >= groups)
        return;
    int i = 8 * group + tile.thread_rank();
    float up = power_of_two(scales[group] - 127);
    float4 was = in[i], is = static_cast<float4>(packed[i]);
    is = make_float4(is.x * up, is.y * up, is.z * up, is.w * up);
    out[2 * i] = __floats2bfloat162_rn(is.x, is.y);
    out[2 * i + 1] = __floats2bfloat162_rn(is.z, is.w);
    float worst = fmaxf(fmaxf(fabsf(is.x - was.x), fabsf(is.y - was.y)),
                        fmaxf(fabsf(is.z - was.z), fabsf(is.w - was.w)));
    worst = cg::reduce(tile, worst, cg::greater<float>());
    if (tile.thread_rank() == 0)
        error[group] = worst;
}

extern "C" __global__ void mx_e4m3(const float4 *in, uchar4 *out, unsigned char *scales, int groups) {
    quantise<__nv_fp8_e4m3>(in, out, scales, groups);
}

extern "C" __global__ void mx_e5m2(const float4 *in, uchar4 *out, unsigned char *scales, int groups) {
    quantise<__nv_fp8_e5m2>(in, out, scales, groups);
}

extern "C" __global__ void mx_back_e4m3(const float4 *in, const __nv_fp8x4_e4m3 *packed, const unsigned char *scales,
                                        __nv_bfloat162 *out, float *error, int groups) {
    restore(in, packed, scales, out, error, groups);
}

extern "C" __global__ void mx_back_e5m2(const float4 *in, const __nv_fp8x4_e5m2 *packed, const unsigned char *scales,
                                        __nv_bfloat162 *out, float *error, int groups) {
    restore(in, packed, scales, out, error, groups);
}
